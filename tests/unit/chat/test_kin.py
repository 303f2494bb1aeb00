"""Words that stand for each other."""

from whence.chat.kin import KIN
from whence.chat.words import words


def test_kin_is_mutual_and_has_the_form_in_which_words_are_compared() -> None:
    assert all(word in KIN[other] for word, kin in KIN.items() for other in kin)
    assert words("pictures")[0] in KIN[words("photo")[0]]
    assert words("taken")[0] in KIN[words("takes")[0]]
