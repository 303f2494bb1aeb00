"""Relationships that a model proposes: their ends, and each way to be rejected."""

from typing import Any, ClassVar
from uuid import UUID

import pytest
from tests.merging import KNOWN, OAUTH, ZITADEL, Merged, known, merged, reasons


class TestRelationships:
    TEXT = "OAuth 2.0 needs Zitadel IdP and SSO"
    SSO: ClassVar[dict[str, Any]] = {"type": "Team", "name": "SSO"}

    def linked(self, text: str = TEXT, **link: Any) -> Merged:
        return merged(text, self.SSO, links=[link])

    @pytest.mark.parametrize("source", [str(OAUTH), str(OAUTH).upper(), "OAuth 2.0", "oauth 2.0."])
    def test_an_end_is_an_id_or_a_name(self, source: str) -> None:
        outcome = self.linked(type="Depends On", source=source, target="Zitadel IdP")
        assert [(each.type, each.source, each.target) for each in outcome.relationships] == [
            ("depends_on", OAUTH, ZITADEL)
        ]

    @pytest.mark.parametrize(
        ("link", "reason"),
        [
            ({"type": "loves", "source": "SSO", "target": "OAuth 2.0"}, "unknown_type"),
            ({"type": "concerns", "source": "SSO", "target": "Nobody"}, "unknown_end"),
            (
                {"type": "concerns", "source": "0190e1d0-0000-7000-8000-00000000ffff", "target": "SSO"},
                "unknown_end",
            ),
            ({"type": "depends_on", "source": "Zitadel IdP", "target": "OAuth 2.0"}, "wrong_end"),
            ({"type": "depends_on", "source": "OAuth 2.0", "target": "SSO"}, "wrong_end"),
            ({"type": "concerns", "source": "SSO", "target": "sso"}, "self_relationship"),
            ({"type": "owned_by", "source": "SSO", "target": "OAuth 2.0"}, "missing_required"),
        ],
    )
    def test_rejected(self, link: dict[str, Any], reason: str) -> None:
        outcome = self.linked(**link)
        assert reasons(outcome) == [("relationships[0]", reason)]
        assert outcome.relationships == ()

    def test_a_bad_property_is_left_out(self) -> None:
        outcome = self.linked(type="concerns", source="SSO", target="OAuth 2.0", since="once", why="x")
        assert reasons(outcome) == [("relationships[0].since", "wrong_value")]
        assert outcome.relationships[0].properties == {"why": "x"}

    def test_said_twice_it_is_one(self) -> None:
        link = {"type": "concerns", "source": "SSO", "target": "OAuth 2.0"}
        assert len(merged(self.TEXT, self.SSO, links=[link, link]).relationships) == 1

    def test_of_two_with_one_name_the_type_decides(self) -> None:
        there = [*KNOWN, known(UUID(int=7), "Team", "Zitadel IdP")]
        link = {"type": "depends_on", "source": "OAuth 2.0", "target": "Zitadel IdP"}
        assert merged(self.TEXT, links=[link], there=there).relationships[0].target == ZITADEL

    def test_where_the_type_does_not_decide_it_is_ambiguous(self) -> None:
        there = [*KNOWN, known(UUID(int=7), "Team", "Zitadel IdP")]
        link = {"type": "concerns", "source": "OAuth 2.0", "target": "Zitadel IdP"}
        assert reasons(merged(self.TEXT, links=[link], there=there)) == [
            ("relationships[0]", "ambiguous_end")
        ]

    def test_two_known_objects_of_which_only_the_context_speaks(self) -> None:
        link = {"type": "depends_on", "source": str(OAUTH), "target": str(ZITADEL)}
        outcome = merged("Nothing here.", links=[link], context=["OAuth 2.0"])
        assert reasons(outcome) == [("relationships[0]", "context_only")]

    def test_two_known_objects_of_which_no_chunk_speaks(self) -> None:
        link = {"type": "depends_on", "source": str(OAUTH), "target": str(ZITADEL)}
        outcome = merged("It needs that.", links=[link])
        assert reasons(outcome) == [("relationships[0]", "ungrounded")]
        assert not outcome.relationships

    @pytest.mark.parametrize("target", ["the Beta Store", "The beta store.", "a Beta Store", "Beta Store"])
    @pytest.mark.parametrize("name", ["Beta Store", "The Beta Store"])
    def test_an_article_before_the_name_of_an_end(self, target: str, name: str) -> None:
        beta = {"type": "Team", "name": name}
        link = {"type": "concerns", "from": "OAuth 2.0", "to": target}
        text = f"OAuth 2.0 needs {name}."
        for objects, there in (([beta], KNOWN), ([], (*KNOWN, known(UUID(int=7), "Team", name)))):
            outcome = merged(text, *objects, links=[link], there=there)
            assert reasons(outcome) == []
            assert [each.span and each.span.quote for each in outcome.relationships] == [text[:-1]]

    def test_the_very_name_goes_before_one_without_its_article(self) -> None:
        there = [*KNOWN, known(UUID(int=7), "Team", "Who"), known(UUID(int=8), "Team", "The Who")]
        link = {"type": "concerns", "source": "OAuth 2.0", "target": "the Who"}
        text = "OAuth 2.0 needs The Who."
        assert merged(text, links=[link], there=there).relationships[0].target == UUID(int=8)
        unclear = {**link, "target": "a Who"}
        assert reasons(merged(text, links=[unclear], there=there)) == [("relationships[0]", "ambiguous_end")]
        nobody = {**link, "target": "the"}
        assert reasons(merged(self.TEXT, links=[nobody], there=there)) == [
            ("relationships[0]", "unknown_end")
        ]
