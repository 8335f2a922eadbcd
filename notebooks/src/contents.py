# %% [markdown]
# # flatviz: a course in Bayesian flatness
#
# **Goal**: find the notebook that you need. **Needs** nothing.
#
# Each notebook asks one question, runs on a laptop's CPU without network, and ends in exercises with solutions. Open one
# and run its cells from top to bottom: Shift-Enter runs a cell and goes to the next. `FAST = True` in its second cell
# makes a small run, to see that everything works; its numbers then mean nothing.
#
# <!-- contents -->
# %% [markdown]
# [Chapter A](A_notation.ipynb) lists the words and letters that all notebooks share; [chapter B](B_expected_numbers.ipynb)
# the numbers to expect, read from the stored files.
