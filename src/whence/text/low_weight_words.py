"""Words of questions that say little about the subject. Pure except for a cache.

They are searched like all others, but weigh less: a text with "work" does not answer `How does photosynthesis work?`, and a
text about a warranty need not have "long" to answer `How long is the warranty?`.
"""

from collections.abc import Mapping
from functools import cache

from whence.text.lexer import DEFAULT_LANGUAGE, SIMPLE, lexer

EVERYDAY = 0.3
"""Weight of a word that any text may have."""
FUNCTION = 0.1
"""Weight of a function word."""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH = _listed("""
    able agree allow allowed anybody anyone anything apply ask asked become begin best better big bring brought call called came care cause change choose come consist
    contain create deal decide define depend describe difference different discover discovered do done
    eat else enough ever every exactly example explain far fast find first found get give given go goes going gone good got great
    handle handled happen happened happens hard have hear heavy held help high hold hot hour important improve invent invented
    involve keep kept kind know known large last late learn less let like list little live long look lot
    made main make making many mean means meaning mention mentioned method more much must
    name necessary need needed never new next now number often old one only open part people perform person place please
    possible provide put quick quickly reach really reason receive remove repair require result right role rule run
    said save say see seen send sent set several show shown should sit size somebody someone something small sort specific stand start stay stop store suitable support
    take taken talk tall tell thing think three time today too told took treat true try turn two type
    understand use used useful using usually various want wanted way wear weigh well went whether
    wide without work worked works would write written wrong wrote year
""")
"""Everyday words; other forms with the same stem count as well."""

_GERMAN = _listed("""
    aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da damit dann das dass dein deine
    dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es
    etwas euch euer für gegen hab habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist
    jede jedem jeden jeder jedes jetzt kann kannst kein keine keinen können könnte man mein meine meinem meinen meiner mich mir mit muss
    müssen nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen
    sollte sondern sonst um und uns unser unsere unter viel viele vom von vor wann war waren warum was weil welche welchem welchen
    welcher welches wem wen wenn wer werde werden wessen wie wieder wieviel will wir wird wo wohin womit worden wurde wurden während
    über zu zum zur zwischen darf dürfen gibt
""")
_FRENCH = _listed("""
    à afin ai alors après as au aucun aussi autre aux avant avec avez avoir avons c ce cela ces cet cette ceux chez combien comme comment
    d dans de des depuis dois doit donc dont du elle elles en encore entre es est et étaient était être eu eux fait faut il ils
    j je jusqu jusque l la là le les leur leurs lors lui m ma mais me même mes moi mon n ne ni nos notre nous on ont où ou par parce
    pas pendant peu peut peux plus pour pourquoi pouvez qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son
    sont sous suis sur ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y
""")
_SPANISH = _listed("""
    a al algo algún alguna algunos ante antes aquel aquella así aunque cada como cómo con contra cual cuál cuales cuáles cuando cuándo
    cuanto cuánto cuánta cuántas cuántos de debe debo del desde donde dónde durante e el él ella ellas ellos en entre era es esa ese eso
    esos esta está están estar este esto estos fue fueron ha había han hasta hay he la las le les lo los más me mi mis muy nada ni no nos
    nosotros nuestra nuestro o otra otro para pero por porque puede puedo pues que qué quien quién quienes se sea ser si sí sido sin
    sobre son su sus también tan tanto te tiene tienen todo todos tu tus un una unas uno unos usted y ya yo
""")
_ITALIAN = _listed("""
    a abbiamo ad agli ai al alla alle allo anche avere c che chi ci ciò come con contro cosa cui d da dagli dai dal dalla dalle dallo degli
    dei del della delle dello deve devo di dopo dove e è ed era essere fino fra gli ha hai hanno ho i il in io l la le lei li lo loro
    lui ma me mi mia mie miei mio ne negli nei nel nella nelle nello noi non nostra nostro o ogni per perché però più può posso prima
    qual quale quali quando quanta quante quanti quanto quella quelle quelli quello questa queste questi questo sarà se sei senza si
    sia sono sta su sua sue sugli sui sul sulla suo suoi tra tu tua tuo tutti tutto un una uno vi voi
""")
_DUTCH = _listed("""
    aan al alle als ben bij daar dan dat de deze die dit doen door dus een en er geen had hebben heb heeft hem het hier hij hoe hoeveel
    hoelang hun ik in is ja je jij jouw kan kun kunnen maar mag me meer men met mij mijn moet moeten na naar niet niets nog nu of om
    omdat onder ons onze ook op over te tegen toen tot u uit uw van veel voor waar waarom wanneer was wat we wel welk welke werd
    wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou
""")
_PORTUGUESE = _listed("""
    a à algum alguma ao aos aquela aquele as até cada com como da das de dela dele deles depois desde devo deve do dos e é ela elas ele eles
    em entre era essa esse esta está estão este eu foi foram há isso isto já lhe mais mas me mesmo meu meus minha minhas muito na não
    nas nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos pode podem por porque posso pouco qual quais quando
    quanta quantas quanto quantos que quem são se sem ser será seu seus só sobre sua suas também te tem têm tenho ter teu todos tudo
    um uma umas uns você vocês
""")

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    "german": _GERMAN,
    "french": _FRENCH,
    "spanish": _SPANISH,
    "italian": _ITALIAN,
    "dutch": _DUTCH,
    "portuguese": _PORTUGUESE,
}
_ENGLISH_AS_WELL = _listed("""
    ad ai algo al ante as been ben bin com come comment contra da del den des die dies dir do door dos dove due ed en er era est eu even
    had hat hay he hem her here hub in ins io is lei lo ma main man mag me men met mine mon no of on op or os over par pas per plus pour
    prima sans sea see sei ser set sin sine so sole son sous su sue sui sum sur ta tan ten ter test tie ton tot tout tu uno us van vi via
    war was we wen were wet will worden yo
""")
"""Function words of other languages that have a meaning in English."""


@cache
def light(language: str) -> Mapping[int, float]:
    """Weights by term key in a project of this language; other terms have weight 1."""
    reader = lexer(language)
    others = frozenset[str]().union(*FUNCTION_WORDS.values())
    if language in FUNCTION_WORDS:
        function, everyday = FUNCTION_WORDS[language], frozenset[str]()
    elif language in (DEFAULT_LANGUAGE, SIMPLE):  # such projects may have texts in any language
        # A single letter may be a programming language or belong to a number.
        function = frozenset(word for word in others - _ENGLISH_AS_WELL if len(word) > 1)
        everyday = _ENGLISH
    else:
        return {}
    counts = {key: EVERYDAY for word in everyday for key in reader.keys(word)}
    return counts | {key: FUNCTION for word in function for key in reader.keys(word)}
