"""A small project in German, which the local embedder hardly knows, and everyday questions about it."""

HOUSE = (
    "Von 22 Uhr bis 6 Uhr ist Nachtruhe. In der Mittagszeit sollen Bohrmaschinen und Staubsauger nicht benutzt werden.",
    "Die Restmülltonne wird jeden Dienstag geleert. Sperrmüll muss zwei Wochen vorher bei der Stadt angemeldet werden.",
    "Die Reinigung des Treppenhauses übernehmen die Mieter im Wechsel. Fahrräder dürfen nicht im Flur stehen, dafür gibt es den Keller.",
    "Bei einem Ausfall der Heizung erreichen Sie den Hausmeister, Herrn Petersen, unter der Nummer 0451 77 12.",
    "Kleintiere sind erlaubt. Hunde und Katzen brauchen die Zustimmung der Verwaltung.",
)
ASKED = (
    "Wann darf ich nachts keinen Lärm machen?",
    "Wann wird der Müll abgeholt?",
    "Wo kann ich mein Fahrrad abstellen?",
    "Wen rufe ich an, wenn es kalt bleibt?",
    "Darf ich einen Hund halten?",
    "Wer putzt die Treppe?",
    "Wie werde ich ein altes Sofa los?",
    "Darf ich mittags bohren?",
    "Wie erreiche ich den Hausmeister?",
    "Muss ich meine Katze anmelden?",
)
