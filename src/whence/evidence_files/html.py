"""An evidence file as one HTML page: no script, nothing loaded from elsewhere. Pure."""

import re
from base64 import b64encode
from html import escape
from uuid import UUID

from whence.evidence import PageRects
from whence.evidence_files.proofs import EvidenceFile, Proof

_MARGIN = 0.05
"""Share of the page's height shown above and below the highlighted lines."""
_WRAPPED = re.compile(r"(?<=[^\s|])\n(?=[\w(“\"'])")
"""A line's end inside a paragraph, not one of a table, a list or a heading."""
_STYLE = """
body{font:16px/1.55 Georgia,serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff;overflow-wrap:anywhere}
h1{font-size:1.4rem}section{break-inside:avoid;border-top:1px solid #ccc;padding:.6rem 0}
blockquote{margin:.4rem 0;padding:.1rem .8rem;border-left:3px solid #b58900}
dl{font:13px/1.5 system-ui,sans-serif;color:#555;display:grid;grid-template-columns:max-content 1fr;gap:0 .8rem;margin:.3rem 0}
dd{margin:0}svg.crop{display:block;box-sizing:border-box;width:100%;height:auto;margin:.6rem 0;border:1px solid #ccc;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.answer,.context,strong{white-space:pre-wrap}.none{color:#a00}.crop rect{mix-blend-mode:multiply}
.context{color:#666;font-size:.9rem}mark{background:#ffe58a;print-color-adjust:exact;-webkit-print-color-adjust:exact}a{color:inherit}
@page{margin:16mm}@media print{body{margin:0;padding:0;max-width:none}a{text-decoration:none}}
"""


def as_html(file: EvidenceFile) -> str:
    made, authors = f"{file.made_at:%Y-%m-%d %H:%M} UTC", escape(", ".join((*file.authors, *file.people)))
    link = f'<dt>link</dt><dd><a href="{escape(file.url)}">{escape(file.url)}</a></dd>' if file.url else ""
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">",
        f'<meta name="viewport" content="width=device-width"><title>{escape(file.title)}</title><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(file.title)}</h1>",
        f'<p class="answer">{_escape(file.text)}</p>' if file.text else "",
        f"<dl><dt>{file.kind}</dt><dd>{file.id}</dd><dt>made</dt><dd>{made} by {authors}</dd>{link}</dl>",
        *(f'<p class="none">{escape(note)}</p>' for note in file.notes),
        _pictures(file),
    ]
    for statement in file.statements:
        parts.append(f"<section><p><strong>{_escape(statement.text)}</strong></p>")
        if statement.word:
            parts.append(f"<p>{escape(statement.word)}</p>")
        elif not statement.proofs:
            parts.append('<p class="none">No source.</p>')
        parts += [_proof(proof, file) for proof in statement.proofs]
        parts.append("</section>")
    return "\n".join([*filter(None, parts), "</body></html>\n"])


def _pictures(file: EvidenceFile) -> str:
    """Each page once; the crops refer to it."""
    images = [
        f'<image id="{_name(*key)}" width="1" height="1" preserveAspectRatio="none" '
        f'href="data:image/png;base64,{b64encode(png).decode()}"/>'
        for key, png in file.images.items()
    ]
    return (
        f'<svg width="0" height="0" style="position:absolute"><defs>{"".join(images)}</defs></svg>'
        if images
        else ""
    )


def _escape(text: str) -> str:
    """With the lines of a table, but without those of a wrapped paragraph."""
    return escape(_WRAPPED.sub(" ", text))


def _name(document_id: UUID, page: int) -> str:
    return f"p{document_id.hex}-{page}"


def _proof(proof: Proof, file: EvidenceFile) -> str:
    facts = {"file": proof.document_name}
    if proof.span is not None and proof.span.location.kind != "page":
        facts["place"] = proof.span.location.label
    elif proof.page is not None:
        facts["page"] = str(proof.page)
    if proof.version is not None:
        facts["version"] = str(proof.version)
    facts |= proof.facts
    rows = [f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items()]
    if proof.url:
        rows.append(f'<dt>link</dt><dd><a href="{escape(proof.url)}">{escape(proof.url)}</a></dd>')
    crops = [
        _crop(_name(proof.document_id, one.page), one)
        for one in (proof.span.pages if proof.span else ())
        if one.rects and (proof.document_id, one.page) in file.images
    ]
    context = ""
    if proof.span is not None and not crops:
        before, after = _escape(proof.span.before.lstrip()), _escape(proof.span.after.rstrip())
        context = f'<p class="context">…{before}<mark>{_escape(proof.quote)}</mark>{after}…</p>'
    return f"<blockquote>[{proof.number}] “{escape(proof.quote)}”</blockquote>{''.join(crops)}{context}<dl>{''.join(rows)}</dl>"


def _crop(name: str, page: PageRects) -> str:
    """The lines of the page with the highlight: a view of the whole picture."""
    rects, width, height = page.rects or (), page.width or 1, page.height or 1
    top = max(0.0, min(one.y0 for one in rects) - _MARGIN) * height
    bottom = min(1.0, max(one.y1 for one in rects) + _MARGIN) * height
    marks = [
        f'<rect x="{one.x0 * width:.2f}" y="{one.y0 * height:.2f}" width="{(one.x1 - one.x0) * width:.2f}" '
        f'height="{(one.y1 - one.y0) * height:.2f}" fill="#ffe58a"/>'
        for one in rects
    ]
    return (
        f'<svg class="crop" viewBox="0 {top:.2f} {width:.2f} {bottom - top:.2f}" role="img" aria-label="page {page.page}">'
        f'<use href="#{name}" transform="scale({width:.3f} {height:.3f})"/>{"".join(marks)}</svg>'
    )
