"""How many tokens a text has, about: held against a tokenizer that counts."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import MARKDOWN, PROSE, texts

from whence.providers import estimate_tokens
from whence.providers.minilm import _tokenizer

CHANCE = random.Random(1)
VARIED = {
    "prose": PROSE,
    "markdown": MARKDOWN,
    "capitals": PROSE.upper(),
    "German": "Der Kapitän grüßte höflich, und die Gäste der Dampfschifffahrtsgesellschaft freuten sich. ",
    "French": "L'été dernier, nous avons visité plusieurs châteaux de la Loire ; c'était magnifique. ",
    "Finnish": "Suomalainen lentokonesuihkuturbiinimoottoriapumekaanikko työskenteli lentoasemalla. ",
    "Russian": "Москва является столицей России. Население города превышает двенадцать миллионов. ",
    "Greek": "Αθήνα είναι η πρωτεύουσα της Ελλάδας. ",
    "Arabic": "مرحبا بالعالم، هذا نص عربي. ",
    "Hindi": "नमस्ते दुनिया। यह एक लंबा हिंदी पाठ है। ",
    "Chinese": "东京是日本的首都。人口超过一千三百万人。",
    "Japanese": "東京は日本の首都です。人口は千三百万人を超えます。",
    "Korean": "서울은 대한민국의 수도이다. 인구는 약 천만 명이다. ",
    "emoji": "👍🏽 🇩🇪 👩‍👩‍👧‍👦 ",
    "code": "def f(x: int) -> int:\n    return {'a': x ** 2, 'b': [x, x + 1]}['a']\n",
    "JSON": '{"id": 17, "name": "wheat", "tags": ["grain", "grass"], "price": 3.50}\n',
    "numbers": " ".join(str(CHANCE.randrange(10**6)) for _ in range(100)),
    "base64": base64.b64encode(CHANCE.randbytes(600)).decode(),
    "hexadecimal": CHANCE.randbytes(300).hex(),
    "addresses": "https://example.org/a/long-path_with/things.html?query=abc&page=12#top ",
    "punctuation": "!@#$%^&*()_+-=[]{}|;':\",./<>?`~ ",
}


@pytest.mark.parametrize("name", VARIED)
def test_it_is_not_far_too_low(name: str) -> None:
    text = VARIED[name] * 5
    counted = len(_tokenizer().encode(text, add_special_tokens=False).ids)
    assert estimate_tokens(text) >= counted * 0.65


@pytest.mark.parametrize("name", ["prose", "markdown", "German", "French", "Russian", "Chinese", "code"])
def test_it_is_not_far_too_high_either(name: str) -> None:
    text = VARIED[name] * 5
    counted = len(_tokenizer().encode(text, add_special_tokens=False).ids)
    assert estimate_tokens(text) <= counted * 1.8


def test_english_prose_is_rather_overcounted() -> None:
    text = "The quarterly report was late again, and nobody in the office knew why it had taken so long. " * 9
    counted = len(_tokenizer().encode(text, add_special_tokens=False).ids)
    assert counted <= estimate_tokens(text) <= counted * 1.6


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("123", 3), ("\n\n", 2), ("字", 2), ("\ud800", 2)]
)
def test_small_ones(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(texts(20), st.text(max_size=50))
def test_joined_texts_have_no_more_than_both_apart(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)
    assert estimate_tokens(one + other) >= estimate_tokens(one)
