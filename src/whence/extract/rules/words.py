"""Lists of words, in small letters but for prefixes: what is no name, no person, no term."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What begins sentences without being the name of anything.
NO_NAMES = _words(
    "a all also an and another any as at both but by each either every few for from he her here his how however i if in it its "
    "many more most my neither no none not nothing of on one only or other our several she since so some such that the their "
    "then there these they this those thus to today under we what when where whether which while who why with you your yes example note "
    "please see run use after before once until unless although though because during without within between"
)

# What stands before a colon, or in bold, without being a term.
NO_TERMS = NO_NAMES | _words(
    "added attention background bug bugfix bugs caution caveat changed changes context danger default deprecated details disclaimer "
    "done examples faq fix fixed fixes goal goals hint idea important improved improvements info information issue new next notes "
    "optional pros cons problem purpose question questions answer q reason recommended removed remark remarks required result results "
    "security solution status step steps summary tip tips todo tl;dr tldr total unreleased update updated updates usage warning "
    "workaround breaking install setup build deploy known features feature documentation docs license licence installation scope overview agenda topic topics"
)

# The last word of a group of people.
GROUPS = _words(
    "team department committee board council group squad guild office unit division desk association agency authority ministry "
    "foundation university institute bank company corporation society union court club crew"
)

# The last word of a firm that has no ending such as Ltd.
FIRMS = _words("advisory consulting partners group holdings traders solutions")

# In what is written like a person's name and is none.
NO_PEOPLE = (
    NO_NAMES
    | GROUPS
    | FIRMS
    | _words(
        "service services api gateway server database module library client engine worker workers queue store cache scheduler adapter "
        "component controller frontend backend proxy broker parser pipeline plugin platform system systems portal app application "
        "software product project agreement contract schedule section article clause annex appendix customer supplier buyer seller "
        "landlord tenant licensor licensee vendor contractor employer party parties management sales marketing engineering finance "
        "legal hr it qa support operations product design security research development data policy report plan phase release version "
        "january february march april may june july august september october november december monday tuesday wednesday thursday "
        "friday saturday sunday everyone everybody anyone nobody tbd tbc n/a chair chairman chairperson director manager officer head "
        "lead president secretary new old user users admin owner street road lane avenue house room floor north south east west inc ltd "
        "llc gmbh ag limited hub dashboard tool framework network cloud studio open web online digital global national federal"
    )
)

# First words of tasks that "to" follows, and are not who does them.
NO_DOERS = (NO_PEOPLE | NO_TERMS) | _words(
    "tests testing test code cli ui ux build ci performance refactor refactoring windows linux macos mac android ios python rust go java "
    "javascript typescript docker kubernetes github core infra bonus later future part milestone week day sprint tutorial guide deploy "
    "deployment migration cleanup install read join learn try explore follow visit watch star support create make run configure "
    "need needs want try plan continue remember ready how what nothing something able start begin due decide decided agree agreed "
    "todo action actions task tasks next follow-up followup back prior according subject thanks going want wants review update add "
    "fix check write send move talk listen speak reach get go set invite ask refer respond reply proposal proposed option options idea "
    "question open issue problem budget scope timeline goal goals deadline"
)

# In what is named like a part of a system and is none: "The Customer Service answers calls".
NO_PARTS = NO_NAMES | _words(
    "customer civil secret health postal public social national military community human emergency fire food room apple company state "
    "foreign intelligence weather news park forest dear"
)

# Of a document, not of the world: "is located in Annex 2".
NO_PLACES = _words("annex appendix article chapter clause exhibit figure page schedule section table")

# Below "Components", a heading that is none.
NO_COMPONENTS = NO_TERMS | _words(
    "introduction configuration deployment diagram diagrams architecture communication interaction interactions flow flows data-flow "
    "dependencies requirements interfaces responsibilities design testing tests structure general common other others "
    "list references layout principles prerequisites"
)

REQUIREMENT_PREFIXES = frozenset(
    ["REQ", "FR", "NFR", "BR", "SR", "UR", "SRS", "US", "AC", "UC", "RQ", "REQUIREMENT"]
)
# What has a number in the world, and is demanded by no document.
STANDARDS = _words(
    "ISO IEC DIN EN IEEE RFC ANSI NIST BSI VDE VDI ITU ASTM COVID SARS UTF UCS SHA MD CVE CWE GHSA HTTP USB PCI HIPAA"
)
# What is numbered for other reasons: one of them that must be mended makes no requirements of the others.
NO_REQUIREMENTS = _words(
    "BUG ISSUE DEFECT ERR PR TC TEST RISK ADR FIG TAB STEP INC CHG CR QUESTION Q DEC D PEP JIRA H P V"
)
TASK_PREFIXES = frozenset(["AI", "ACT", "ACTION", "TASK", "TODO"])

PEOPLE_KEYS = _words(
    "attendees participants present attending author authors owner owners responsible contact organizer organiser chair reviewer "
    "reviewers approver assignee maintainer maintainers facilitator"
)
OWNER_KEYS = _words("owner owners responsible assignee maintainer maintainers")
PRESENT_KEYS = _words("attendees participants present attending")

# What a phrase may begin with, and does not end with.
LINKING = _words(
    "a an the this that these those its their his her our your of for to in into on onto at by with within without from and or nor "
    "but as if than then not no any all each every is are be been was were has have which who whose where when under upon between "
    "against per via about after before during until must shall should may can will"
)
