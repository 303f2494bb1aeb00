"""Language: words, numbers, dates, names and tables. Pure; used by search, chat, extract and offline.

lexer            words and stems as the text index counts them     stopwords    English words that are not indexed
cjk              scripts without spaces                            low_weight_words  everyday words that say little
content_words    the words of a sentence that carry its meaning    names        when two names are the same
numerals         numbers in digits and words                       dates        dates in their usual notations
tables           markdown and delimited tables                     delimited_rows  rows with commas, semicolons or tabs
"""
