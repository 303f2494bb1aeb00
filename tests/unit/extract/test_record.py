"""What is embedded of an object."""

from whence.extract.to_store import MAX_TEXT, text_of


def test_text_stands_for_itself_and_other_values_with_the_name_of_their_property() -> None:
    properties = {"status": "in use", "port": 8080, "public": False, "zones": ["a", "b"]}
    assert text_of("Component", "Payment Gateway", properties).splitlines() == [
        *("Payment Gateway Component", "port: 8080", "public: False", "in use", "zones: ['a', 'b']")
    ]


def test_the_order_in_which_properties_came_does_not_matter() -> None:
    there, back = {"a": "one", "b": "two"}, {"b": "two", "a": "one"}
    assert text_of("Thing", "X", there) == text_of("Thing", "X", back)


def test_only_so_much_of_an_object_is_embedded() -> None:
    assert len(text_of("Thing", "X", {"text": "a" * 3 * MAX_TEXT})) == MAX_TEXT
