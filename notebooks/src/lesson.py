# %% [markdown]
# # Lesson plan: ninety minutes on flat posteriors
#
# **Goal**: teach this lesson. **Needs** a projector, the site or JupyterLab, and chapters
# [00](00_tour.ipynb), [04](04_what_flat_means.ipynb) and [08](08_from_sam_to_sabma.ipynb) read once.
#
# **Takes** 90 minutes with a class; five minutes to read.
#
# The class knows: gradient, Gaussian, eigenvalue, cross-entropy. It does not know: posterior over weights, Hessian of a
# network, sharpness. Everything is shown with the pages of the site, whose pictures move without Python. "First page" is
# the site's: method, radius, ensemble size, and a row of tabs. With JupyterLab the same pictures are at the end of
# [chapter 00](00_tour.ipynb), and fit new radii while the class waits.
#
# One rule: **nobody moves a slider before the class has said what will happen.** Write the votes on the board.
#
# The plan was tried once: each slider below was moved to the values named, and the observations were written down.
# The numbers are of seed 0; their last digits differ between machines.
#
# ## Minute by minute
#
# ### Minutes 0 to 8: Two places for a tent
#
# - **Show**: [chapter 00](00_tour.ipynb), the story and its picture.
# - **Tell** (3 minutes): the loss as ground, the weights as the place, uncertainty about the pegs as a posterior.
# - **Ask** (5 minutes, in pairs): *Where do you sleep better, and what did you assume about tomorrow's wind?*
# - **Seen**: the hollow is the lower place, and it is narrow; the meadow stays low over several units. Those who prefer the hollow
#   assume that the pegs end up exactly where they were meant to.
#
# ### Minutes 8 to 18: A network is a vector
#
# - **Show**: [chapter 01](01_network_is_a_vector.ipynb): one layer by hand, the picture of 9,226 numbers; then stop *above*
#   the curve of "What it is on a network".
# - **Tell** (6 minutes): nine thousand sliders, one point; distance; the line $w(t) = (1 - t)\, a + t\, b$.
# - **Ask** (4 minutes): *Is the middle of two good networks a good network?* Vote, then scroll to the curve.
# - **Seen**: almost no loss at both ends, a hill of about 0.2 nats between them. Averaging weights is not averaging predictions.
#
# ### Minutes 18 to 26: A picture that lies
#
# - **Show**: [chapter 02](02_slicing_a_loss_surface.ipynb), lie 1: two pictures of one network. Then lie 2, the figure
#   "one function, two widths".
# - **Tell** (4 minutes): a picture is a choice of two directions among hundreds, and of their length.
# - **Ask** (4 minutes, at lie 2): *Which of these two networks is flatter?*
# - **Seen**: the dashed curve looks three times as wide, and it is the same function. Along filter-normalised directions, the
#   next figure, the two curves lie on each other.
#
# ### Minutes 26 to 38: What flat means
#
# - **Show**: [chapter 04](04_what_flat_means.ipynb): the three valleys, six definitions, then *Live: move the radius*.
# - **Tell** (7 minutes): the parabola on the board, $\lambda_1$, the trace, the worst step; three hikers who disagree.
# - **Slider and question** (5 minutes): **radius**, from 0.05 upwards: *at which radius does the order change?*
# - **Seen** in the legend: at 0.75 the bowl becomes flatter than the valley with steep walls, at 1.00 the narrow hole too,
#   and at 1.45 the hole is the flattest of the three. At 0.05 it was by far the sharpest.
#
# ### Minutes 38 to 42: Break
#
# - **Show**: [chapter 04](04_what_flat_means.ipynb), "The same function, as sharp as you like", the figure with seven lines.
# - **Slider and question**, for the break: **t**, below the figure: *If sharpness can be made anything, what can it explain?*
# - **Seen**: at t = 3 the largest eigenvalue is more than a hundred times that at 0, and the text above the slider says that no
#   logit has moved. Three lines stay level: measures that do not see the scale.
#
# ### Minutes 42 to 52: From one network to many
#
# - **Show**: first page, method **VI**, tab **Scores**.
# - **Tell** (5 minutes): prior, posterior, averaging; Jensen's inequality on the board.
# - **Slider and question** (5 minutes): **ensemble size**, 1, 2, 5, 10, 30: *From how many draws on does nothing change? Can
#   the average be worse than its members?*
# - **Seen**: NLL falls from 0.55 to 0.50 with the second draw, to 0.46 with ten and to 0.44 with thirty. The last twenty draws bring
#   little, and still more than any radius does in the second half of the lesson. The accuracy goes up and down within its band. In NLL the average is never worse than its members are on average; accuracy and ECE have no such law.
#
# ### Minutes 52 to 66: The worst posterior nearby
#
# - **Show**: [chapter 08](08_from_sam_to_sabma.ipynb), "The two balls in one picture".
# - **Tell** (6 minutes): SAM's ball, then the KL ball; the step $\Delta^\star$ in two lines.
# - **Slider and question** (3 minutes): **radius** at 0, 0.5, 2: *does the worst mean lie on the black line?*
# - **Seen**: at 0 the worst posterior, orange, lies on $q$, grey. Then it moves along the wide axis, not along the line:
#   steps are cheap where the posterior is unsure.
# - **Show**: first page, method **SA-BMA**, tab **Flatness**.
# - **Slider and question** (5 minutes): **radius** 0: *what is it now?* Then one stop a time, ten stops to 4 (in JupyterLab
#   there are more, and a preview is shown until a new radius is fitted): *what happens to
#   $\lambda_1$, what to NLL?*
# - **Seen**, in the line below the controls: at 0 it says what it said for VI, figure by figure. $\lambda_1$ falls at every stop,
#   from 1.8 to 1.3 at radius 1 and to 0.57 at 4. NLL (10 draws) stays within about a hundredth, 0.46 at 0 and 0.47 at 4; the
#   accuracy stays at 87 %.
#
# ### Minutes 66 to 76: Flat is not free
#
# - **Show**: first page, method SA-BMA, **radius** 0, tab **Flatness**; press **Compare**, then move the upper radius, A, to
#   2.8, and to 4. B stays at VI.
# - **Tell** (4 minutes): the bold line is where the loss has risen by half a nat; the floor is written above each picture
#   ("center").
# - **Ask** (6 minutes): *Is the largest radius the best? Which number would you choose it by?*
# - **Seen**: at 2.8 all five eigenvalues are less than half of VI's, at 4 about a third, and the floor is lower. The bold line
#   encloses about as much of the plane in A as in B: it is around the mean, and the eigenvalues are of draws around it. NLL is
#   higher at both radii. Choose by the NLL on validation data: not by $\lambda_1$, and not by these test scores.
#
# ### Minutes 76 to 85: What really holds
#
# - **Show**: the page *What really holds* of the site, card 1: blue marks are at equal temperature, orange ones at equal training loss,
#   where VI has another temperature. Then, under *Show all*, unfold the first table; cover the last column. Rows SA-BMA T4 (lowest
#   $\lambda_1$ of all methods), T4 (T = 0.03, equal T: a lower $\lambda_1$ than VI), T4 (T = 0.3, equal training loss, on digits: the
#   $\lambda_1$ of VI).
# - **Tell** (4 minutes): forty seeds, three controls, intervals; how a claim becomes "inconclusive".
# - **Ask** (5 minutes): *Which of these three sentences would you still write in a paper?* Vote, then uncover.
# - **Seen**: three rows, three different verdicts. In a terminal `flatviz run frontier` makes the page with the
#   tables behind them.
#
# ### Minutes 85 to 90: Three sentences to take home
#
# - **Tell**: nothing; the class says them, and you write. Then the exercises of chapters [04](04_what_flat_means.ipynb) and
#   [08](08_from_sam_to_sabma.ipynb).
# - **Ask**: *What would change your mind?*
# - **Heard**, if the lesson worked: flat at which radius, by which measure; flatter is not better by itself; a lower temperature
#   does most of what the radius does; one seed is an anecdote.
#
# ## Before the lesson
#
# - Open the first page of the site once, so that the browser has it; no network is needed afterwards. A move of a slider is
#   drawn within a fifth of a second.
# - In JupyterLab run chapters [00](00_tour.ipynb), [04](04_what_flat_means.ipynb) and [08](08_from_sam_to_sabma.ipynb) from
#   top to bottom, a minute or less each: the fits are then in memory and the sliders answer at once. A radius that was not
#   fitted takes some seconds.
# - Put the vote of each question on the board as a table: guess, result, why.
#
# ## What usually goes wrong
#
# **"The plane shows the posterior."** It shows shadows. Open the tab Surface, which shows the distance from the plane beside
# the surface: most draws lie above the diagonal, farther off the plane than in it.
#
# **"Lower λ₁ is better."** It is lower. Better is a statement on test data; let the class find a radius where λ₁ falls and NLL
# rises (from 2 to 2.8, or from 0 to 4).
#
# **"SA-BMA beats VI, I have seen it."** At how many gradients? A step of SA-BMA takes two. The tables of *What really holds* say which
# sentences survive that.
#
# ## If there are only 45 minutes
#
# Minutes 0 to 8, 26 to 38, 52 to 66 and 76 to 85; leave out the derivation of $\Delta^\star$ and show the picture of the two
# balls instead.
#
# ## Homework
#
# Exercise 2 of [chapter 00](00_tour.ipynb) (Jensen), one exercise of [chapter 04](04_what_flat_means.ipynb), exercise 3 of
# [chapter 08](08_from_sam_to_sabma.ipynb). Solutions are folded below each.
