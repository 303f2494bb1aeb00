"""Word lists for `periods`: abbreviations, words like them, and words that begin sentences.

In lower case, without the last full stop. The lists cover common words of the larger European languages; `periods`
recognises most other abbreviations by their shape (no vowel, or inner stops).
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Never end a sentence: a name, the other party or the rest of the phrase follows.
INTRODUCING = _words("""
    mr mrs ms mx dr drs prof rev fr hon gov pres sen rep gen maj capt cpt cmdr lt sgt cpl adm brig messrs mme mlle
    st ste mt vs cf approx ca eg ie e.g i.e p.s ps n.b nb viz resp incl excl esp attn supt insp amb atty
    hr frl dipl ing geb bzw vgl sog evtl ggf inkl exkl zzgl hrsg z.b d.h u.a o.ä p.ej p.ex b.v o.a d.w.z allg usf lfd
    sra srta dra dña ud uds excmo excma gral aprox avda dpto tfno sig sigg dott avv geom c.-à-d
    dhr mevr bijv enz zgn ul tzw tzn mjr kpt inż mgr
    ул им тыс млн млрд руб акад проф
""")

# May end a sentence: they do if the next word is one that often begins sentences.
TRAILING = _words("""
    inc corp ltd co llc plc bros jr sr esq al dept univ assn assoc ave blvd rd hwy apt bldg gmbh cie
    usw ecc oz lb lbs ft hrs min mins max secs yrs mo col
    med kath ev fa abg vors mm av lic sto sta cía ee uu ген
""")

# The same if capitalised; otherwise they are ordinary words. Dates and US states.
CAPITALISED = _words("""
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun okt dez ene abr ago
    ala ariz calif colo conn fla ga ill kan ky mich minn mont neb nev okla ore pa penn tenn tex va vt wis wyo
""")

# Abbreviations before a number, ordinary words elsewhere: "No. 5", "Art. 3".
NUMBERED = _words("""
    no nos art arts p pp ch col sect sec par para cl fig figs eq eqs chap vol vols ed eds ext tel ref refs abs abb tab
    kap bd nr str s ss f ff n nn op pág págs pag pagg núm cap av bl blz стр гл рис табл
""")

# English words of up to four letters that end like abbreviations, in a consonant, but are none.
SHORT_WORDS = _words("""
    it him her them us that this these in on up out off not but all at is was has had are been were can did get got
    let put set run sit cut hit yes well good bad best just left here near far over ago day days way ways man men boy
    girl kid kids dog dogs cat cats car cars bus job jobs fun lot lots bit top end ends then than when from with for
    own old new big hot red ten six last next past both each such much many soon again back down town work help need
    want look feel know mean find call tell said says went seen hear hard fast long food room year week hour kind book
    part head hand feet body pain mind soul god war law tax bill cost paid sell told keep kept stop wait stay fan fans
    win won lost ok lol
""")

# Words that begin a sentence far more often than they continue a name after an abbreviation.
STARTERS = _words("""
    the a an this that these those it its he she they we you i his her their our my your there here what when where
    why who how which while if in on at as for from with by after before since because although though but and or so
    yet however then thus also all some many most no not both each one two let please thanks yes
    nobody everyone someone nothing everything today yesterday tomorrow later now meanwhile
    der die das den dem des ein eine einer es er sie wir ihr ich sein seine dies diese dieser dabei damit danach
    aber und oder auch wenn weil als nach vor mit bei im am zum zur doch heute gestern dann später nun jetzt dort niemand
    le la les un une il elle ils elles nous vous je ce cet cette ces son sa ses mais et ou dans en pour avec puis alors
    el los las una unos unas él ella ellos esta este estos estas su sus pero y o con para por según luego después hoy ayer nadie
    lo gli uno questo questa ma e nel nella di dopo os um uma ele ela eles isto não mas
    de het een hij zij ze wij dit dat deze maar
    это он она они мы вы я в на по но и а как что если для при после потом затем теперь сегодня вчера никто там тогда
""")

# Words before a German ordinal: "am 3. Oktober", "der 1. Platz".
ORDINAL_LEADS = _words("""
    am der die das den dem des vom zum zur im bis ab seit und beim ein eine einen einem
    sein seine seinem seinen seiner ihr ihre ihrem ihren ihrer mein meine meinem meinen meiner unser unsere
""")

# Words that follow a German ordinal, whatever precedes it: "* 3. Oktober 1930".
MONTHS = _words("""
    januar jänner februar märz april mai juni juli august september oktober november dezember
""")

# French and Italian words that lose their last letter and join the next word: "l'art. 5".
ELIDED = _words("l d j m n s t c qu dell nell all un")
