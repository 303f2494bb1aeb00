"""Whatever is taken over comes from the primary chunk: the six rules, in their order."""

from tests.merging import OAUTH, known, merged, reasons


class TestGrounding:
    """The six rules, one after the other."""

    AROUND = ("Earlier, Payment Gateway was chosen; it takes 9 days.",)

    def test_1_a_value_in_the_primary_chunk(self) -> None:
        outcome = merged("It takes 9 days.", {"id": str(OAUTH), "effort": 9}, context=self.AROUND)
        assert outcome.claims[0].span is not None

    def test_2_a_paraphrase_about_a_name_in_the_primary_chunk(self) -> None:
        outcome = merged("OAuth 2.0 really matters.", {"id": str(OAUTH), "priority": "high"})
        assert outcome.claims[0].span is None

    def test_3_a_value_that_only_the_context_has(self) -> None:
        outcome = merged("Nothing of the kind.", {"id": str(OAUTH), "effort": 9}, context=self.AROUND)
        assert reasons(outcome) == [("objects[0].effort", "context_only")]
        assert outcome.updates == ()

    def test_4_a_paraphrase_beside_a_value_in_the_primary_chunk(self) -> None:
        said = {"id": str(OAUTH), "effort": 3, "description": "Quickly done"}
        outcome = merged("It takes 3 days.", said)
        assert [(each.property, each.span is None) for each in outcome.claims] == [
            ("effort", False),
            ("description", True),
        ]

    def test_5_a_name_that_only_the_context_has(self) -> None:
        outcome = merged("Nothing.", {"type": "Team", "name": "Payment Gateway"}, context=self.AROUND)
        assert reasons(outcome) == [("objects[0]", "context_only")]

    def test_5_a_paraphrase_about_a_name_that_only_the_context_has(self) -> None:
        there = [known(OAUTH, "Requirement", "Payment Gateway")]
        outcome = merged("Nothing.", {"id": str(OAUTH), "priority": "low"}, context=self.AROUND, there=there)
        assert reasons(outcome) == [("objects[0].priority", "context_only")]

    def test_6_nothing_anywhere(self) -> None:
        outcome = merged("Nothing.", {"id": str(OAUTH), "priority": "low"})
        assert reasons(outcome) == [("objects[0].priority", "ungrounded")]

    def test_a_new_object_without_its_grounded_properties_may_lack_what_is_required(self) -> None:
        said = {"type": "Component", "name": "Vault", "version": "7.7"}
        assert merged("Vault is used.", said).objects
        outcome = merged("In version 7.7", said, context=["Vault"])
        assert reasons(outcome) == [("objects[0]", "context_only")]
