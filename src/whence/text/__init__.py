"""Language: words, numbers, dates, names and tables. Pure; used by search, chat, extract and offline.

lexer          terms of the text index                word_lists        word lists, one data file per language
cjk            scripts without spaces                 low_weight_words  everyday words with little weight
content_words  words that carry meaning               names             comparison, display and detection of names
numerals       English number words                   dates             dates in common notations
tables         markdown and delimited tables          prompt_escaping   document text in a prompt
"""
