"""Language: words, numbers, dates, names and tables; `prompt_escaping` for text in a prompt. Pure; used by search, chat, extract and offline.

lexer          terms of the text index                word_lists       word lists, one data file per language
content_words  words that carry meaning               names            comparison, display and detection of names
cjk            scripts without spaces                 dates            dates in common notations
tables         markdown and delimited tables
"""
