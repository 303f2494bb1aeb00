import sys
from pathlib import Path

import pytest
from tests.distributions import offer_strategy

from whence.chunk import CharacterStrategy, strategy
from whence.errors import InvalidParameter, WhenceError


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_ours() -> None:
    assert all(strategy(name).name == name for name in ("character", "sentence", "paragraph"))


def test_the_default_is_character() -> None:
    assert isinstance(strategy(), CharacterStrategy)


@pytest.mark.parametrize("name", ["", "Sentence", "semantic", None, 3])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        strategy(name)
    assert caught.value.details["parameter"] == "chunkingStrategy"
    assert caught.value.details["provided"] == name
    assert caught.value.details["expected"].startswith("one of character, sentence, paragraph")
    assert str(caught.value).endswith(f", not {name!r}")


def test_an_instance_is_taken_as_it_is(site: Path) -> None:
    source = (
        "class S:\n    name = 'nothing'\n    def chunk(self, text, options):\n        return []\nmade = S()\n"
    )
    offer_strategy(site, name="nothing", value="offered_instance:made", source=source)
    assert strategy("nothing") is sys.modules["offered_instance"].made


def test_what_cannot_be_loaded_is_named(site: Path) -> None:
    offer_strategy(site, name="broken", value="offered_broken:made", source="raise RuntimeError('no luck')\n")
    with pytest.raises(WhenceError, match=r"'broken' \(offered_broken:made\) cannot be loaded$"):
        strategy("broken")
    assert strategy("sentence").name == "sentence"


@pytest.mark.parametrize(
    "source", ["made = 3\n", "class made:\n    name = 'other'\n    def chunk(self): ...\n"]
)
def test_what_is_no_strategy_is_refused(site: Path, source: str) -> None:
    module = f"offered_wrong_{len(source)}"
    offer_strategy(site, name="wrong", value=f"{module}:made", source=source)
    with pytest.raises(WhenceError, match="no chunking strategy named 'wrong'"):
        strategy("wrong")


def test_our_names_stay_ours(site: Path) -> None:
    offer_strategy(site, name="character", value="offered_character:made", source="made = None\n")
    assert isinstance(strategy("character"), CharacterStrategy)
