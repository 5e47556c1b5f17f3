"""What every reproduction is made with; nothing here knows of a document.

A document has a package next to this one, with its claims, its readings of what was published, and what only
it shows. The parts, from a file of published numbers to a page:

==============  ===================================================================================
``published``   the folder of a document, and rows of its tables
``series``      scenarios made from templates, the runs of a fidelity one after the other
``evidence``    what was measured, or why it was not
``checks``      one check for each published number or claim
``judgement``   claims decided by their parts
``document``    checks and verdict of a document; ``text`` and ``page`` show them
==============  ===================================================================================
"""
