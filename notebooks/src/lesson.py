# %% [markdown]
# # Lesson plan: ninety minutes on flat posteriors
#
# **You will** give this lesson tomorrow. **Needs** a projector, the site or JupyterLab, and chapters
# [00](00_tour.ipynb), [04](04_what_flat_means.ipynb) and [08](08_from_sam_to_sabma.ipynb) read once. **Takes** 90
# minutes with a class; three minutes to read.
#
# The class knows: gradient, Gaussian, eigenvalue, cross-entropy. It does not know: posterior over weights, Hessian of a
# network, sharpness. Everything is shown with the live pictures of the first page of the site, which need no Python;
# with JupyterLab the same pictures are at the end of [chapter 00](00_tour.ipynb), and fit new radii while the class
# waits.
#
# One rule: **nobody moves a slider before the class has said what will happen.** Write the votes on the board.
#
# ## Minute by minute
#
# ### Minutes 0 to 8: Two places for a tent
#
# - **Tell**: The story; the loss as ground; uncertainty about the pegs.
# - **Show**: [chapter 00](00_tour.ipynb), the story.
# - **Slider and question**: *Where do you sleep better, and what did you assume about tomorrow's wind?*
#
# ### Minutes 8 to 18: A network is a vector
#
# - **Tell**: Nine thousand sliders, one point; a line between two networks.
# - **Show**: [chapter 01](01_network_is_a_vector.ipynb): one layer by hand, the line.
# - **Slider and question**: *Is the middle of two good networks a good network?* Vote, then draw the curve
#
# ### Minutes 18 to 26: A picture that lies
#
# - **Tell**: The same network on a random plane, with and without filter normalisation.
# - **Show**: [chapter 02](02_slicing_a_loss_surface.ipynb): lies 1 and 2.
# - **Slider and question**: *Which of these two networks is flatter?* It is one network
#
# ### Minutes 26 to 38: What flat means
#
# - **Tell**: The parabola, λ₁, the trace; three hikers who disagree.
# - **Show**: [chapter 04](04_what_flat_means.ipynb): six definitions; live: move the radius.
# - **Slider and question**: the radius of the ball: *at which radius does the order change?*
#
# ### Minutes 38 to 42: Break
#
# - **Tell**: Or the riddle: the same function, as sharp as you like.
# - **Show**: [chapter 04](04_what_flat_means.ipynb): the rescaled network.
# - **Slider and question**: *If sharpness can be made anything, what can it explain?*
#
# ### Minutes 42 to 52: From one network to many
#
# - **Tell**: Prior, posterior, averaging; Jensen's inequality on the board.
# - **Show**: first page: method VI, **ensemble size** from 1 to 30.
# - **Slider and question**: *From how many draws on does nothing change? Can the average be worse than its members?*
#
# ### Minutes 52 to 66: The worst posterior nearby
#
# - **Tell**: SAM's ball, then the KL ball; the step Δ⋆ in two lines.
# - **Show**: [chapter 08](08_from_sam_to_sabma.ipynb): two balls in one picture.
# - **Slider and question**: method SA-BMA, **radius** 0: *what is it now?* (VI.) Then one stop a time: *what happens
#   to λ₁, what to NLL?*
#
# ### Minutes 66 to 76: Flat is not free
#
# - **Tell**: Compare radius 0 with the largest; the floor rises while the ground gets flatter.
# - **Show**: first page: tab Flatness, **Compare**.
# - **Slider and question**: *Is the largest radius the best? Which number would you choose it by?*
#
# ### Minutes 76 to 85: What holds
#
# - **Tell**: Ten seeds, equal gradients, intervals; how a claim becomes "cannot tell".
# - **Show**: the page *What holds*.
# - **Slider and question**: *Which of the three sentences would you still write in a paper?*
#
# ### Minutes 85 to 90: Three sentences to take home
#
# - **Tell**: By the class; exercises.
# - **Show**: chapters [04](04_what_flat_means.ipynb) and [08](08_from_sam_to_sabma.ipynb), exercises.
# - **Slider and question**: *What would change your mind?*
#
# ## Before the lesson
#
# - Open the first page of the site once, so that the browser has it; no network is needed afterwards.
# - In JupyterLab run chapters [00](00_tour.ipynb) and [08](08_from_sam_to_sabma.ipynb) from top to bottom: the fits are
#   then in memory and the sliders answer at once.
# - Put the vote of each question on the board as a table: guess, result, why.
#
# ## What usually goes wrong
#
# **"The plane shows the posterior."** It shows shadows. Open the tab with the distance off the plane beside the
# surface: most draws
# lie above the diagonal, farther off the plane than in it.
#
# **"Lower λ₁ is better."** It is lower. Better is a statement on test data; let the class find a radius where λ₁
# falls and NLL rises.
#
# **"SA-BMA beats VI, I have seen it."** At how many gradients? A step of SA-BMA takes two. The tables of *What holds*
# say which
# sentences survive that.
#
# ## If there are only 45 minutes
#
# Minutes 0 to 8, 26 to 38, 52 to 66 and 76 to 85; leave out the derivation of Δ⋆ and show the picture of the two
# balls instead.
#
# ## Homework
#
# Exercise 2 of [chapter 00](00_tour.ipynb) (Jensen), one exercise of [chapter 04](04_what_flat_means.ipynb), exercise 3
# of [chapter 08](08_from_sam_to_sabma.ipynb). Solutions are folded below each.
