"""Which extractor a project gets, and extractors of other distributions."""

from pathlib import Path

import pytest
from tests.distributions import offer_entry_point

from whence.errors import BadInput, Conflict
from whence.extract.context import ContextOptions
from whence.extract.extractors import ENTRY_POINT_GROUP, Extractors, offered_extractors
from whence.offline.extractor import RulesExtractor

FOREIGN = """
    class Silent:
        name = "silent"
        model = None

        def prompt_tokens(self, schema):
            return 0, 0

        def question(self, schema, context):
            from whence.extract.extractors import ExtractionRequest
            return ExtractionRequest(schema=schema, context=context)

        async def read(self, question, usage):
            from whence.extract.extractors import ReadReply
            from whence.extract.reply import ExtractionReply
            return ReadReply(reply=ExtractionReply(), context=question.context)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def offer(site: Path, *, name: str, value: str, source: str = FOREIGN) -> None:
    offer_entry_point(site, group=ENTRY_POINT_GROUP, name=name, value=value, source=source)


def test_without_a_model_the_rules_extract() -> None:
    extractors = Extractors(others={"rules": RulesExtractor()})
    assert extractors.choose(None) == "rules"
    assert extractors.get("rules", ContextOptions()) == RulesExtractor()
    with pytest.raises(Conflict, match="WHENCE_LLM_BASE_URL"):
        extractors.choose("model")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    extractors = Extractors(others={"rules": RulesExtractor()})
    extractors.require_known("model")
    extractors.require_known(None)
    with pytest.raises(BadInput, match="one of model, rules") as refused:
        extractors.require_known("oracle")
    assert refused.value.details["field"] == "config.extractor"
    with pytest.raises(Conflict, match="'oracle', and no installed distribution offers it"):
        extractors.choose("oracle")


def test_an_installed_extractor_is_offered_by_its_name(site: Path) -> None:
    offer(site, name="silent", value="foreign_silent:Silent")
    found = offered_extractors()
    assert list(found) == ["silent"]
    assert Extractors(others={"rules": RulesExtractor(), **found}).choose("silent") == "silent"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("silent", "foreign_broken:Nothing", "cannot be loaded"),
        ("loud", "foreign_misnamed:Silent", "is no extractor named 'loud'"),
        ("silent", "foreign_wrong:__name__", "is no extractor named 'silent'"),
    ],
)
def test_one_that_does_not_work_is_logged_and_left_out(
    site: Path, caplog: pytest.LogCaptureFixture, name: str, value: str, said: str
) -> None:
    offer(site, name=name, value=value)
    assert offered_extractors() == {}
    assert said in caplog.text


def test_our_names_stay_ours(site: Path) -> None:
    offer(site, name="rules", value="foreign_rules:Silent")
    assert offered_extractors() == {}
