"""Finding chunks.

lexer      text to terms                    query      what somebody looks for
postings   which chunks have a term         index      segments of postings come, go and grow together
bm25       chunks ranked by their terms
"""
