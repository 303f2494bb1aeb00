"""Everyday English words that stand for each other: the forms of irregular verbs, and words for the same thing. Pure.

Who asks what a ticket costs is answered by its price. Each line is one kin; a word may have several.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from whence.chat.words import words

_VERBS = """
    begin began begun
    break broke broken
    bring brought
    build built
    buy bought
    choose chose chosen
    come came
    draw drew drawn
    drive drove driven
    eat ate eaten
    fall fell fallen
    fly flew flown flight
    forget forgot forgotten
    get got gotten
    give gave given
    go goes went gone
    grow grew grown
    hold held
    keep kept
    know knew known
    lend lent
    lose lost
    make made
    meet met
    pay paid payment
    run ran
    say said
    see saw seen
    sell sold sale
    send sent
    show shown
    sleep slept
    speak spoke spoken
    spend spent
    stand stood
    steal stole stolen
    swim swam
    take took taken
    teach taught
    tell told
    think thought
    throw threw thrown
    wear wore worn
    write wrote written
"""
_THINGS = """
    age old
    animal pet
    apartment flat
    begin start
    bicycle bike cycle
    borrow lend lent loan
    buy purchase
    cancel terminate cancellation
    car vehicle
    charge cost fee price
    child children kid
    choose select
    color colour
    deep depth
    delete deletion remove
    doctor physician
    elevator lift
    email mail
    expire expiry expiration
    film movie
    fix mend repair
    garbage rubbish trash waste
    guest visitor
    height high tall
    holiday vacation
    image photo photograph picture
    inhabitant live population
    install installation
    length long
    licence license
    phone telephone
    permit permission allow
    reimburse refund
    reply answer
    require need
    salary wage
    weigh weight heavy
    wide width
    wlan wifi fi
"""


def _groups() -> Iterator[frozenset[str]]:
    for line in f"{_VERBS}{_THINGS}".splitlines():
        if found := frozenset(words(line)):
            yield found


def _kin() -> Mapping[str, frozenset[str]]:
    found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for group in _groups():
        for word in group:
            found[word] |= group - {word}
    return dict(found)


KIN = _kin()
"""Of each word, in the form in which words are compared."""
