"""English number words."""

from whence.text.word_lists import word_list

SMALL = word_list("english", "cardinals")
TENS = word_list("english", "tens")
ZEROS = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
