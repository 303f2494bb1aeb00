"""Office files and books, written by hand: a zip of just the parts that readers need."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
_SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
_SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"

Rows = Sequence[Sequence[str]]


def zipped(parts: Mapping[str, str | bytes], *, first: tuple[str, str] | None = None) -> bytes:
    """`first` is a part that must stand first and uncompressed, as in ODT and EPUB."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if first is not None:
            archive.writestr(zipfile.ZipInfo(first[0]), first[1])
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx(paragraphs: Iterable[str], *, table: Rows = (), more: Mapping[str, bytes] | None = None) -> bytes:
    """A paragraph that begins with `# ` is a heading, with `## ` one below it. `more` are further parts."""
    body = "".join(_word_paragraph(paragraph) for paragraph in paragraphs)
    if table:
        rows = (
            "<w:tr>" + "".join(f"<w:tc>{_word_paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>"
            for row in table
        )
        body += f"<w:tbl>{''.join(rows)}</w:tbl>"
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2)
    )
    wordprocessing = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    return zipped(
        {
            "[Content_Types].xml": _content_types(
                {
                    "/word/document.xml": f"{wordprocessing}.document.main+xml",
                    "/word/styles.xml": f"{wordprocessing}.styles+xml",
                }
            ),
            "_rels/.rels": _relationships({"rId1": ("officeDocument", "word/document.xml")}),
            "word/_rels/document.xml.rels": _relationships({"rId1": ("styles", "styles.xml")}),
            "word/document.xml": f'{_XML}<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
            "word/styles.xml": f'{_XML}<w:styles xmlns:w="{_WORD}">{styles}</w:styles>',
            **(more or {}),
        }
    )


def pptx(slides: Sequence[Sequence[str]], *, notes: Mapping[int, str] | None = None) -> bytes:
    """The first text of a slide is its title; `notes` of the speaker by the slide's number."""
    names = [f"slide{number}.xml" for number in range(1, len(slides) + 1)]
    presentation = "application/vnd.openxmlformats-officedocument.presentationml"
    types = {"/ppt/presentation.xml": f"{presentation}.presentation.main+xml"}
    types |= {f"/ppt/slides/{name}": f"{presentation}.slide+xml" for name in names}
    ids = "".join(
        f'<p:sldId id="{256 + number}" r:id="rId{number}"/>' for number in range(1, len(slides) + 1)
    )
    return zipped(
        {
            "[Content_Types].xml": _content_types(types),
            "_rels/.rels": _relationships({"rId1": ("officeDocument", "ppt/presentation.xml")}),
            "ppt/presentation.xml": f'{_XML}<p:presentation xmlns:p="{_SLIDES}" xmlns:r="{_OFFICE}">'
            f"<p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": _relationships(
                {f"rId{number}": ("slide", f"slides/{name}") for number, name in enumerate(names, 1)}
            ),
            **{f"ppt/slides/{name}": _slide(texts) for name, texts in zip(names, slides, strict=True)},
            **{
                f"ppt/slides/_rels/slide{number}.xml.rels": _relationships(
                    {"rId1": ("notesSlide", f"../notesSlides/notes{number}.xml")}
                )
                for number in notes or {}
            },
            **{
                f"ppt/notesSlides/notes{number}.xml": _slide(["the picture", text])
                for number, text in (notes or {}).items()
            },
        }
    )


def xlsx(sheets: Mapping[str, Rows]) -> bytes:
    spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types = {"/xl/workbook.xml": f"{spreadsheet}.sheet.main+xml"}
    types |= {
        f"/xl/worksheets/sheet{number}.xml": f"{spreadsheet}.worksheet+xml"
        for number in range(1, len(sheets) + 1)
    }
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(sheets, 1)
    )
    return zipped(
        {
            "[Content_Types].xml": _content_types(types),
            "_rels/.rels": _relationships({"rId1": ("officeDocument", "xl/workbook.xml")}),
            "xl/workbook.xml": f'{_XML}<workbook xmlns="{_SHEETS}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relationships(
                {f"rId{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
            ),
            **{
                f"xl/worksheets/sheet{number}.xml": _sheet(rows)
                for number, rows in enumerate(sheets.values(), 1)
            },
        }
    )


def odp(
    slides: Sequence[Sequence[str]], *, table: Rows = (), notes: Mapping[int, str] | None = None
) -> bytes:
    """The first text of a slide is its title; one that begins with `- ` is in a list. The table is on the last slide."""
    pages = []
    for number, (title, *texts) in enumerate(slides, 1):
        body = "".join(_odp_paragraph(text) for text in texts)
        page = _frame("title", f"<text:p>{escape(title)}</text:p>") + _frame("outline", body)
        page += _odf_table(table) if number == len(slides) else ""
        page += _frame("footer", "<text:p>A footer</text:p>")
        if notes and number in notes:
            said = _frame("notes", f"<text:p>{escape(notes[number])}</text:p>")
            page += f"<presentation:notes>{said}</presentation:notes>"
        pages.append(f"<draw:page>{page}</draw:page>")
    return _odf(
        "application/vnd.oasis.opendocument.presentation",
        f"<office:presentation>{''.join(pages)}</office:presentation>",
    )


def _odp_paragraph(text: str) -> str:
    said = escape(text.removeprefix("- ")).replace(" &amp; ", "<text:s/>&amp;<text:tab/>")
    return (
        f"<text:list><text:list-item><text:p><text:span>{said}</text:span></text:p></text:list-item></text:list>"
        if text.startswith("- ")
        else f"<text:p>{said}</text:p>"
    )


def _frame(kind: str, content: str) -> str:
    box = f"<draw:text-box>{content}</draw:text-box>"
    return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'


def odt(paragraphs: Iterable[str], *, table: Rows = (), encrypted: bool = False) -> bytes:
    """`encrypted` says so in the manifest, as an office program does; the text itself stays as it is."""
    body = "".join(
        f'<text:h text:outline-level="1">{escape(paragraph[2:])}</text:h>'
        if paragraph.startswith("# ")
        else f"<text:p>{escape(paragraph)}</text:p>"
        for paragraph in paragraphs
    )
    body = f"<office:text>{body}{_odf_table(table)}</office:text>"
    return _odf("application/vnd.oasis.opendocument.text", body, encrypted=encrypted)


def _odf_table(table: Rows) -> str:
    rows = (
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{escape(cell)}</text:p></table:table-cell>" for cell in row)
        + "</table:table-row>"
        for row in table
    )
    return (
        f'<table:table table:name="Table1"><table:table-column/>{"".join(rows)}</table:table>'
        if table
        else ""
    )


def _odf(mime: str, body: str, *, encrypted: bool = False) -> bytes:
    secret = "<manifest:encryption-data/>" if encrypted else ""
    manifest = (
        f'<manifest:manifest xmlns:manifest="{_ODF}:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mime}"/>'
        f'<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml">{secret}'
        "</manifest:file-entry></manifest:manifest>"
    )
    names = " ".join(
        f'xmlns:{name}="{_ODF}:{urn}:1.0"'
        for name, urn in {
            "office": "office",
            "text": "text",
            "table": "table",
            "presentation": "presentation",
            "draw": "drawing",
        }.items()
    )
    content = f'<office:document-content {names} office:version="1.2"><office:body>{body}</office:body></office:document-content>'
    return zipped(
        {"content.xml": _XML + content, "META-INF/manifest.xml": _XML + manifest}, first=("mimetype", mime)
    )


def epub(chapters: Sequence[Sequence[str]], *, title: str = "A book") -> bytes:
    names = [f"chapter{number}.xhtml" for number in range(1, len(chapters) + 1)]
    items = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(names)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">urn:whence:1</dc:identifier><dc:title>{escape(title)}</dc:title>'
        f"<dc:language>en</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>'
        "</rootfiles></container>"
    )
    parts = {"META-INF/container.xml": _XML + container, "OEBPS/content.opf": _XML + package}
    for name, paragraphs in zip(names, chapters, strict=True):
        page = f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>{escape(title)}</title></head>"
        parts[f"OEBPS/{name}"] = f"{_XML}{page}<body>{html_body(paragraphs)}</body></html>"
    return zipped(parts, first=("mimetype", "application/epub+zip"))


def html_body(paragraphs: Iterable[str]) -> str:
    return "\n".join(
        f"<h1>{escape(paragraph[2:])}</h1>" if paragraph.startswith("# ") else f"<p>{escape(paragraph)}</p>"
        for paragraph in paragraphs
    )


def encrypted_office() -> bytes:
    """What an office program makes of a document with a password: another kind of container (MS-CFB)."""
    sector, free, end = 512, b"\xff\xff\xff\xff", b"\xfe\xff\xff\xff"
    header = bytearray(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16))
    header += b"\x3e\x00\x03\x00\xfe\xff\x09\x00\x06\x00" + bytes(10)
    header += b"\x01\x00\x00\x00" + b"\x01\x00\x00\x00" + bytes(4) + b"\x00\x10\x00\x00"
    header += end + bytes(4) + end + bytes(4) + bytes(4) + free * 108
    table = b"\xfd\xff\xff\xff" + end + free * 126
    entries = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0")
        + (len(name) * 2 + 2).to_bytes(2, "little")
        + bytes([kind, 1])
        + free * 2
        + child
        + bytes(36)
        + end
        + bytes(8)
        for name, kind, child in [
            ("Root Entry", 5, b"\x01\x00\x00\x00"),
            ("EncryptedPackage", 2, free),
            ("EncryptionInfo", 2, free),
        ]
    )
    return bytes(header).ljust(sector, b"\0") + table + entries.ljust(sector, b"\0")


def _content_types(parts: Mapping[str, str]) -> str:
    overrides = "".join(f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in parts.items())
    return (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types">'
        f'<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relationships(targets: Mapping[str, tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def _word_paragraph(text: str) -> str:
    level = len(text) - len(text.lstrip("#"))
    style = f'<w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr>' if level else ""
    words = escape(text[level:].strip() if level else text)
    return f'<w:p>{style}<w:r><w:t xml:space="preserve">{words}</w:t></w:r></w:p>'


def _slide(texts: Sequence[str]) -> str:
    shapes = "".join(
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number + 2}" name="Text {number}"/><p:cNvSpPr/>'
        f'<p:nvPr><p:ph type="{"title" if number == 0 else "body"}"/></p:nvPr></p:nvSpPr>'
        f'<p:spPr><a:xfrm><a:off x="0" y="{number * 900000}"/><a:ext cx="9000000" cy="800000"/></a:xfrm></p:spPr>'
        f"<p:txBody><a:bodyPr/><a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p></p:txBody></p:sp>"
        for number, text in enumerate(texts)
    )
    return (
        f'{_XML}<p:sld xmlns:p="{_SLIDES}" xmlns:a="{_DRAWING}" xmlns:r="{_OFFICE}"><p:cSld><p:spTree>'
        '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
        f"{shapes}</p:spTree></p:cSld></p:sld>"
    )


def _sheet(rows: Rows) -> str:
    cells = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{chr(65 + column)}{number}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
            for column, cell in enumerate(row)
        )
        + "</row>"
        for number, row in enumerate(rows, 1)
    )
    return f'{_XML}<worksheet xmlns="{_SHEETS}"><sheetData>{cells}</sheetData></worksheet>'
