"""Which sentences of an answer ought to cite."""

import pytest

from whence.chat.support.assertions import is_assertion


@pytest.mark.parametrize(
    "sentence",
    [
        "The ferry sinks daily.",
        "There is no doubt that the ferry contains gold worth 5 million dollars.",
        "**The ferry was sunk by pirates in 1850.**",
        "**The ferry was sunk by pirates**",
        "__The ferry was sunk by pirates.__",
        "The passages do not say so, but the ferry sinks daily.",
        "The passages do not say so and the ferry sinks daily.",
        "The passages do not say so; the ferry sinks daily.",
        "The passages do not say so (the ferry sinks daily).",
        "The passages do not say so: the ferry sinks daily.",
        "The office was sold to aliens in 1999:",
        "The office was sold to aliens:",
        "The office is on Mars and no source mentions it.",
        "Nobody knows this; the office was sold for 5 million euros without any documents.",
        "The gold was not found by pirates in 1850.",
        "The captain could not find the documents.",
        "No documents are needed at the border.",
        "No information is stored by the ferry.",
        "They do not have pets on board the ferry.",
        "It does not contain nuts.",
        "We do not provide refunds for late trains.",
        "The documents do not include a visa for the crew.",
        "No information is given to the press.",
        "> The ferry sinks daily.",
        "| ferry | sinks |",
        "渡轮每天沉没。",
        "Dragons did it.",
        "It is free.",
        "They are closed.",
    ],
)
def test_what_says_something_claims(sentence: str) -> None:
    assert is_assertion(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Yes.",
        "Of course.",
        "It is.",
        "Here it is.",
        "Is the ferry long?",
        "**Does the ferry leave at nine?**",
        "# The ferry to Gotland",
        "**Opening hours of the office**",
        "**Opening hours of the office:**",
        "Here is what is known:",
        "The main points are:",
        "The office has the following rules:",
        "From the knowledge graph:",
        "I could not find anything about dogs in the documents.",
        "I couldn't find any information about the price of gold in the provided passages.",
        "I cannot answer this question from the passages.",
        "I do not know.",
        "I found no sentence in the documents that answers this.",
        "I'm sorry, but I am unable to answer this question.",
        "The passages do not answer the question.",
        "The provided documents do not contain information on the price of gold.",
        "The passages don't mention who paid for the bridge in 1874.",
        "Unfortunately, the documents do not say when the ferry leaves.",
        "None of the passages mention dogs.",
        "No information about dogs was found.",
        "No source mentions the ferry.",
        "There is no information about dogs in the documents.",
        "There is no mention of dogs in the passages.",
        "Nothing about dogs was found in the documents.",
        "The price of the ticket is not mentioned in the documents.",
        "Based on the passages, I cannot determine the price.",
        "**The passages do not answer the question.**",
    ],
)
def test_what_says_nothing_else_than_that_nothing_was_found_claims_nothing(sentence: str) -> None:
    assert not is_assertion(sentence)
