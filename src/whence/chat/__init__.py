"""Questions -> answers whose every citation holds. What is here is pure: nothing is read, written or remembered.

passages      what an answer is made from
markers       what a citation looks like when a model writes it
citations     the one validator: markers become ids of sources, or go
support       how well each sentence is supported by what it cites
extractive    answers without a model        words       texts as the words that carry their meaning
"""
