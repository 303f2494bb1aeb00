"""Language: words, numbers, dates, names and tables. Pure; used by search, chat, extract and offline.

lexer          terms of the text index                stopwords         English words that are not indexed
cjk            scripts without spaces                 low_weight_words  everyday words with little weight
content_words  words that carry meaning               names             comparison and detection of names
numerals       numbers in digits and words            dates             dates in common notations
tables         markdown and delimited tables          delimited_rows    rows with commas, semicolons or tabs
prompt_escaping  documents in a prompt, defused
"""
