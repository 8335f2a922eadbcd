# %% [markdown]
# # 03 · How curved is a loss of 906 weights?
#
# Put a marble into a bath tub and shake it. It rolls far along the tub and hardly up its walls. If you may know only one
# thing about the tub, you ask: *how steep are the walls, and in which direction?* That is the largest eigenvalue of the
# curvature, and its eigenvector. If you may know more: how many directions have walls at all?
#
# A loss surface of 906 weights is such a tub, with a few steep walls and hundreds of directions along which the marble
# rolls freely.
#
# **You will learn** to
#
# - say what gradient, Hessian and eigenvalues of a loss tell about its valley;
# - multiply the Hessian with a vector without ever building the Hessian;
# - find its largest eigenvalues by power iteration and by Lanczos, with an error bound;
# - read a spectrum: bulk, outliers, trace, negative eigenvalues;
# - tell Hessian and Gauss-Newton matrix apart.
#
# **Takes** 35 minutes to read and half a minute to run on a CPU.
#
# **Needs** chapters [01](01_network_is_a_vector.ipynb) and [02](02_slicing_a_loss_surface.ipynb); eigenvalues of
# symmetric matrices.

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
from dataclasses import replace

import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure

torch.set_num_threads(1)

# %% [markdown]
# The network of [chapter 02](02_slicing_a_loss_surface.ipynb) again: `L` is the loss of 100 digits as a function of 906
# weights, `w` the solution that SGD found.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
L = fv.nll(net, task.train)
w = fv.fit(net, task.train, fv.SGD(), seed=0).center

# %% [markdown]
# **Number to expect**: the largest eigenvalue of the course's network, trained on ten digits a class, lies between 5 and 8.
# A cell below checks it.

# %%
h = torch.tensor([8.0, 1.0])  # a steep wall and a shallow one
turn = torch.tensor([[0.8, -0.6], [0.6, 0.8]])
H2 = turn @ torch.diag(h) @ turn.T  # a symmetric matrix with the eigenvalues h
tub = lambda w: 0.5 * w @ H2 @ w
floor = fv.plane_along(torch.zeros(2), *torch.eye(2), orthonormal=True, name="all of a plane")
fv.plot_surface(
    fv.slice_plane(tub, floor, resolution=41), title=f"A tub: eigenvalues {h[0]:g} and {h[1]:g}"
)

# %% [markdown]
# *Figure: elliptic contours, long in one oblique direction and short across it. The ellipse is about three times as long as
# it is wide: the square root of 8 is 2.8.*
#
# **Try** a steeper tub, `h = torch.tensor([20.0, 1.0])`; a round bowl, `[3.0, 3.0]`, in which no direction is special; a saddle,
# `[8.0, -1.0]`: where does gradient descent go?

# %% [markdown]
# ## The derivation
#
# **Step 1: Taylor.** For a small step $\delta \in \mathbb{R}^D$
#
# $$ L(w + \delta) = L(w) + g^\top \delta + \tfrac12\, \delta^\top H \delta + O(\lVert \delta \rVert^3), \qquad
#    g_i = \frac{\partial L}{\partial w_i}, \quad H_{ij} = \frac{\partial^2 L}{\partial w_i \partial w_j} . $$
#
# $g$ is the gradient, $H$ the **Hessian**. At a minimum $g = 0$, and the valley's shape is $H$. (SGD stops near a minimum:
# its $g$ is small, not 0.)
#
# **Step 2: eigenvectors.** $H$ is symmetric, so $H = \sum_i \lambda_i v_i v_i^\top$ with orthonormal $v_i$ and
# $\lambda_1 \ge \lambda_2 \ge \dots$ Along $v_i$ the loss is a parabola:
#
# $$ L(w + a v_i) \approx L(w) + \tfrac12 \lambda_i a^2 . $$
#
# **Step 3: the largest.** For $u$ of length 1, $u^\top H u = \sum_i \lambda_i (v_i^\top u)^2$ is a weighted mean of the
# eigenvalues, for $\sum_i (v_i^\top u)^2 = 1$. A mean is never above its largest member:
#
# $$ \lambda_1 = \max_{\lVert u \rVert = 1} u^\top H u . $$
#
# So $\lambda_1$ is *how steep the steepest wall is*. It is the most used number for sharpness.

# %% [markdown]
# ## A product with the Hessian costs two gradients
#
# $H$ has $D^2$ entries: 820,836 here, and $6 \cdot 10^{14}$ for a network of 25 million weights. We never build it. Let
# $v$ be fixed. Then
#
# $$ \frac{\partial}{\partial w_i} \big( g(w)^\top v \big) = \sum_j \frac{\partial g_j}{\partial w_i} v_j = (H v)_i
#    \qquad \Longrightarrow \qquad H v = \nabla_w \big( g(w)^\top v \big) . $$
#
# **Read it as a program**: take the gradient, multiply it with $v$, take the gradient of that number.

# %%
v = torch.randn(net.dim, generator=torch.Generator().manual_seed(0))
point = w.clone().requires_grad_()
(g,) = torch.autograd.grad(L(point), point, create_graph=True)
(Hv,) = torch.autograd.grad(g @ v, point)  # H v = grad (g . v)
fv.expect(Hv, fv.hvp(L, w, v), atol=1e-4, by="fv.hvp")
fv.expect(net.dim**2, 820_836, rtol=0)

# %% [markdown]
# ## The slow and certain way: all of it
#
# With 906 weights we can afford what nobody can with 25 million: column $i$ of $H$ is $H e_i$. This dense matrix is the
# **exact answer** that the fast ways must meet.

# %%
layer = net.blocks[-1].slice if FAST else slice(0, net.dim)  # FAST: of the last shifts alone
eye = torch.eye(net.dim)[layer]
H = torch.stack([fv.hvp(L, w, e)[layer] for e in eye])
exact = torch.linalg.eigvalsh(H.double()).flip(0)  # falling
fv.expect((H - H.T).abs().max() < 1e-4 * exact[0], "symmetric, as it must be")

# %% [markdown]
# ## Power iteration: four lines
#
# Start anywhere, multiply with $H$, again and again. Write $u = \sum_i c_i v_i$. After $k$ products
#
# $$ H^k u = \sum_i c_i \lambda_i^k v_i = \lambda_1^k \Big( c_1 v_1 +
#    \sum_{i > 1} c_i \big( \tfrac{\lambda_i}{\lambda_1} \big)^k v_i \Big) , $$
#
# and all terms but the first fade, the slowest as $(\lambda_2 / \lambda_1)^k$, if no other eigenvalue is as large as
# $\lambda_1$ in absolute value. The length of $Hu$, for $u$ of length 1, is then $\lambda_1$.

# %%
u = torch.ones(net.dim)
for _ in range(60):
    u = fv.hvp(L, w, u / u.norm())
    estimate = u.norm()  # |H u| for u of length 1
print(f"after 60 products {estimate:.3f}")

# %% [markdown]
# ## Lanczos: the same products, used better
#
# Power iteration forgets all but the last vector. **Lanczos** keeps the span of $u, Hu, H^2 u, \dots$ and takes the best
# eigenvectors that this span holds. It finds several eigenvalues at once, with fewer products.
#
# Each comes with an error bound. Let $\theta, v$ be any guess with $\lVert v \rVert = 1$. With $c_i = v_i^\top v$
#
# $$ \lVert H v - \theta v \rVert^2 = \sum_i (\lambda_i - \theta)^2 c_i^2 \ge \min_i (\lambda_i - \theta)^2 , $$
#
# so **some eigenvalue lies within the residual** $\lVert Hv - \theta v \rVert$ of the guess. Read the residual first.

# %%
top = fv.top_eigenpairs(L, w, 5)
first = top.vectors[0]
residual = (fv.hvp(L, w, first) - top.values[0] * first).norm()
fv.expect(residual < 1e-3 * top.values[0], "the bound, computed once more")
fv.expect(estimate, top.values[0], rtol=0.02, by="Lanczos")  # power iteration agrees
print(top.n_products, "products:", [round(float(x), 2) for x in top.values])

# %% [markdown]
# **Check against the exact answer**: the five largest eigenvalues of the dense matrix. (In the small run the matrix is
# that of the last ten weights, and `part=` asks Lanczos for the same block.)

# %%
part = fv.top_eigenpairs(L, w, 5, part=layer)
fv.expect(part.values, exact[:5], by="the dense matrix")
if not FAST:
    fv.expect(5 < top.values[0] < 8, "between 5 and 8")  # the number to expect
fv.plot_spectrum(replace(top, name="SGD solution"))

# %% [markdown]
# *Figure: five markers joined by a line that falls from the largest eigenvalue to the fifth. The error bars, the residuals,
# are too small to be seen.*
#
# **Try** ten of them, `fv.top_eigenpairs(L, w, 10)`; few products, `iters=8`, where the bars can be seen; the curvature of the test
# loss at the same weights, `fv.nll(net, task.test)` for `L`.

# %% [markdown]
# ## Live: is the loss really a parabola?
#
# The slider `rank` chooses the eigenvector $v_i$, `reach` how far to walk along it, to both sides.
# The dashed curve is what the Hessian promises, $L(w) + a\, g^\top v_i + \tfrac12 \lambda_i a^2$; the solid one is the loss itself.
#
# **Predict first**: how far out will the promise hold along $v_1$? And along $v_5$?

# %%
value, gradient = L.value_and_grad(w)


def promise(a, v, lam):
    """The quadratic model at a steps along v."""
    return value + a * (gradient @ v) + 0.5 * lam * a**2


# %%
def walk(rank, reach):
    """Loss and quadratic model from -reach to reach along eigenvector `rank`."""
    v, lam, a = top.vectors[rank - 1], top.values[rank - 1], torch.linspace(-reach, reach, 41)
    loss = fv.slice_path(L, w + a[:, None] * v, t=a, x_label="a, distance along v", name="loss")
    model = replace(loss, values=promise(a, v, lam), name="parabola of the Hessian")
    return fv.plot_curve([loss, model], barrier=False, title=f"Along v{rank}: λ = {lam:.2f}")


# %%
_ = ipywidgets.interact(walk, rank=(1, 5), reach=(0.1, 2.0, 0.1))

# %% [markdown]
# *Figure: two curves with a common valley at a = 0. Close to it they coincide; farther out they differ, and the loss is not
# even symmetric.*
#
# <details><summary>What one sees</summary>
#
# Along every $v_i$ the promise holds for a few tenths at most; how far does not depend on $\lambda_i$. Farther out the loss
# rises faster than the parabola, and then more like a straight line. With `reach` at 0.1 a small gap is seen again: the
# scale has shrunk with the reach.
#
# </details>
#
# The same as a test: near $w$ the two agree up to terms of third order. Halve the step, and the error falls about
# eightfold.

# %%
steps = torch.tensor([0.2, 0.1, 0.05])
points = w + steps[:, None] * first
error = (L.many(points) - promise(steps, first, top.values[0])).abs()
print("errors at 0.2, 0.1, 0.05:", [f"{x:.1e}" for x in error.tolist()])
fv.expect(error[1] < 0.3 * error[0], "the error falls faster than the square")

# %% [markdown]
# ## The whole spectrum
#
# Where are the other 901 eigenvalues? `spectral_density` estimates the share of eigenvalues about each value, again from
# products alone.

# %%
density = fv.spectral_density(L, w, runs=2 if FAST else 4, k=5)
fv.plot_density(density)

# %% [markdown]
# *Figure: density on a logarithmic axis. A tall narrow peak stands at zero; to its right a few separate low bumps, the
# outliers, and triangles mark the five largest eigenvalues. The smoothing sets the width of a bump.*
#
# **Bulk and outliers.** Nearly all eigenvalues are close to zero: directions that the 100 digits say nothing about. About
# as many as there are classes are large. "A minimum" of such a loss is a valley with a wide flat floor. The smallest
# eigenvalue is a little *below* zero: along it the loss bends downwards, so SGD stopped near a minimum, not in one.

# %%
near_zero = (exact.abs() < 0.01 * exact[0]).double().mean()
large = int((exact > 0.1 * exact[0]).sum())
print(f"{100 * near_zero:.0f} % of the eigenvalues are below 1 % of the largest")
print(f"{large} are above 10 % of it; the smallest is {exact[-1]:.4f}")
if not FAST:
    fv.expect(bool(near_zero > 0.7) and 5 <= large <= 20, "a bulk at zero, about ten outliers")

# %% [markdown]
# ## The trace, without the diagonal
#
# The sum of all eigenvalues is $\operatorname{tr} H = \sum_i H_{ii}$. Let $z$ be random signs: $z_i = \pm 1$, each with
# probability one half, independent. Then $\mathbb{E}[z_i z_j] = 0$ for $i \ne j$, and $z_i^2 = 1$:
#
# $$ \mathbb{E}[z^\top H z] = \sum_{ij} H_{ij}\, \mathbb{E}[z_i z_j] = \sum_i H_{ii} = \operatorname{tr} H . $$
#
# This is **Hutchinson's estimator**. `hessian_trace` has a variant with a smaller error, and says how large that is.

# %%
signs = torch.randint(0, 2, (200, len(H)), generator=torch.Generator().manual_seed(0)) * 2.0 - 1
hutchinson = ((signs @ H) * signs).sum(1)  # z^T H z
spread = hutchinson.std() / 200**0.5  # standard error of the mean
fv.expect(hutchinson.mean(), H.trace(), rtol=0, atol=4 * float(spread), by="the matrix")
print(f"trace {H.trace():.2f}, Hutchinson {hutchinson.mean():.2f} ± {spread:.2f}")

# %% [markdown]
# **Curvature by layer.** Each layer has a block of $H$ on the diagonal; the traces of these blocks add up to that of $H$, and no
# block has a larger eigenvalue than $H$ (`layer_curvature`, on any network).

# %%
layers = fv.landscape.layer_curvature(L, w)
highest = max(layer.lambda1 for layer in layers.values())
fv.expect(highest <= top.values[0] + 1e-3, "no block is sharper than the whole")

# %%
fig = figure("Curvature by layer", "Bars of the largest eigenvalue and the trace of each layer")
for name in ("lambda1", "trace"):
    fig.add_bar(
        x=list(layers), y=[float(getattr(layer, name)) for layer in layers.values()], name=name
    )
fig.update_xaxes(type="category", title="layer")
fig.update_yaxes(type="log", title="curvature of the loss", dtick=1)

# %% [markdown]
# *Figure: largest eigenvalue and trace of each layer's block, on a logarithmic axis, with their errors.*
#
# ## Hessian and Gauss-Newton
#
# The loss of one example is $\ell(f(w))$: a convex $\ell$ of the logits $f \in \mathbb{R}^C$ of $C$ classes. Differentiate
# twice, with the chain and the product rule. $J = \partial f / \partial w$ is a $C \times D$ matrix; $\ell'$ and $\ell''$
# are the gradient and the Hessian of $\ell$ in the logits:
#
# $$ \nabla \ell = J^\top \ell', \qquad
#    \nabla^2 \ell = \underbrace{J^\top \ell'' J}_{\text{Gauss-Newton}} +
#    \sum_{c=1}^{C} \ell'_c\, \nabla^2 f_c . $$
#
# For softmax, $\ell'' = \operatorname{diag}(p) - p p^\top$ has no negative eigenvalue, so the first part has none. Only
# the second part, weighted by the errors $\ell'_c = p_c - 1[c = y]$, can bend downwards; it fades as the errors do. (Here
# $p$ are the softmax probabilities, and $1[c = y]$ is 1 for the right class and 0 for the others; exercise 1 derives both.)

# %%
logits = lambda w: net(w, task.train.x)
J = torch.autograd.functional.jacobian(logits, w, vectorize=True)  # (N, C, D)
p = logits(w).softmax(1)
Lambda = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]  # diag(p) - p p^T, (N, C, C)

# %%
G = torch.einsum("ncd,nce,nef->df", J, Lambda, J) / len(p)  # mean over examples
ggn = fv.top_eigenpairs(L, w, 5, curvature="ggn").values
by_hand = torch.linalg.eigvalsh(G).flip(0)
fv.expect(by_hand[:5], ggn, by="the library")

# %%
print(f"largest eigenvalue: Hessian {top.values[0]:.3f}, Gauss-Newton {ggn[0]:.3f}")
print(f"smallest: Gauss-Newton {by_hand[-1]:.1e}")
fv.expect(by_hand[-1] > -1e-4 * ggn[0], "never negative, to rounding")

# %% [markdown]
# Laplace's method ([chapter 06](06_vi_and_laplace.ipynb)) uses Gauss-Newton: a covariance must be positive.
#
# ## Curvature of other things
#
# **Of each minibatch.** SGD sees the loss of a few examples at a time. `batch_eigenvalues` has $\lambda_1$ of each of them. Their
# mean is above that of the full loss, because $\lambda_1$ is a convex function of the matrix.

# %%
batches = fv.landscape.batch_eigenvalues(L, w, batch_size=10)
mean = torch.stack([spectrum.values[0] for spectrum in batches]).mean()
print(f"λ₁ of ten digits {mean:.2f} on average, of all hundred {top.values[0]:.2f}")
fv.expect(mean > top.values[0], "ten digits are sharper than a hundred")

# %%
fig = figure("λ₁ of ten batches of ten digits", "Histogram of ten largest eigenvalues")
fig.add_histogram(x=[float(spectrum.values[0]) for spectrum in batches])
fig.add_vline(float(mean), line_dash="dash")
fig.update_layout(xaxis_title="λ₁ of a batch", yaxis_title="batches")

# %% [markdown]
# *Figure: histogram of ten largest eigenvalues, with a dashed line at their mean.*
#
# **Of an image.** `input_nll` is the loss as a function of the inputs, at fixed weights: an image takes the place of $w$ in every
# verb. The two steepest directions among 64 pixels span a plane; its centre is the digit itself.

# %%
digit = fv.input_nll(net.at(w), task.test.subset(torch.tensor([0])))
pixels = fv.top_eigenpairs(digit, digit.start, 2)
plane = fv.plane_eigen(digit.start, pixels)
fv.plot_surface(fv.slice_plane(digit, plane, extent=3.0, resolution=11 if FAST else 41))

# %% [markdown]
# *Figure: contours of the loss of one digit over changes of its pixels. It rises in some directions and stays low in others.*
#
# **With another solver.** `curvature_operator` gives products as a function of tensors that scipy's solvers take as a matrix:

# %%
from scipy.sparse.linalg import eigsh

largest = eigsh(fv.landscape.curvature_operator(L, w), 1, which="LA", return_eigenvectors=False)
fv.expect(largest[0], top.values[0], by="flatviz")

# %% [markdown]
# ## Summary
#
# - Near $w$, $L(w + \delta) \approx L(w) + g^\top\delta + \tfrac12 \delta^\top H \delta$.
# - $\lambda_1$, the largest eigenvalue of $H$, is the steepness of the steepest wall.
# - $Hv = \nabla(g^\top v)$: a product costs about two gradients, and all the rest is made of products.
# - Some eigenvalue lies within the residual of every guess. Read it first.
# - The spectrum of a network is a bulk at zero and a few outliers.
# - Gauss-Newton is the part of the Hessian that never bends downwards.
#
# ## Exercises
#
# **1.** Derive $\ell'' = \operatorname{diag}(p) - pp^\top$ for $\ell(f) = -\log \operatorname{softmax}(f)_y$, and show
# that its largest eigenvalue is at most $1/2$.
#
# <details><summary>Solution</summary>
#
# $\ell = \log \sum_c e^{f_c} - f_y$, so $\ell'_c = p_c - 1[c=y]$ and $\ell''_{cd} = \partial p_c / \partial f_d =
# p_c 1[c=d] - p_c p_d$. For $u$ of length 1, $u^\top \ell'' u = \sum_c p_c u_c^2 - (\sum_c p_c u_c)^2$ is the variance of
# $u_c$ under $p$. A variance is at most a quarter of the squared range, and $(u_c - u_d)^2 \le 2 (u_c^2 + u_d^2) \le 2$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
f = torch.randn(5, generator=torch.Generator().manual_seed(0))
second = torch.autograd.functional.hessian(lambda f: -f.log_softmax(0)[2], f)
p = f.softmax(0)
fv.expect(second, torch.diag(p) - p[:, None] * p, atol=1e-6, by="the formula")
fv.expect(torch.linalg.eigvalsh(Lambda).max() <= 0.5 + 1e-6, "at most one half")

# %% [markdown]
# **2.** Gradient descent on the tub: $w \leftarrow w - \eta H w$. For which steps $\eta$ does it converge?
#
# <details><summary>Solution</summary>
#
# Along $v_i$ it is $c_i \leftarrow (1 - \eta \lambda_i) c_i$, which shrinks if $\lvert 1 - \eta \lambda_i \rvert < 1$, so
# $\eta < 2 / \lambda_i$ for all $i$: $\eta < 2/\lambda_1$. A sharp wall forbids large steps; large steps forbid sharp walls.
#
# </details>


# %% tags=["hide-cell"] jupyter={"source_hidden": true}
def descend(lr):
    """Distance from the minimum after 200 steps."""
    w = torch.ones(2)
    for _ in range(200):
        w = w - lr * H2 @ w
    return float(w.norm())


# %% tags=["hide-cell"] jupyter={"source_hidden": true}
edge = 2 / float(h.max())
fv.expect(
    bool(descend(0.99 * edge) < 0.05) and bool(descend(1.01 * edge) > 10), "the edge is 2 / h"
)

# %% [markdown]
# **3.** What is the variance of Hutchinson's $z^\top H z$? For which $H$ is it 0?
#
# <details><summary>Solution</summary>
#
# $z^\top H z = \operatorname{tr} H + 2 \sum_{i<j} H_{ij} z_i z_j$. The products $z_i z_j$ of different pairs are
# uncorrelated with variance 1, so the variance is $4 \sum_{i<j} H_{ij}^2 = 2 \sum_{i \ne j} H_{ij}^2$. It is 0 for a
# diagonal $H$: one product is enough.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
predicted = 2 * (H.square().sum() - H.diagonal().square().sum())
fv.expect(hutchinson.var(), predicted, rtol=0.5, by="the formula")  # 200 probes: 10 % and more

# %% [markdown]
# **4.** Does the trace tell $\lambda_1$? Give bounds on $\lambda_1$ in terms of $\operatorname{tr} H$ and $D$ for an $H$
# without negative eigenvalues, and say when each is reached.
#
# <details><summary>Solution</summary>
#
# $\operatorname{tr} H / D \le \lambda_1 \le \operatorname{tr} H$. The left side is reached when all eigenvalues are equal
# (a round bowl), the right side when only one is not zero (a single pair of walls). Networks are near neither.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
g_top, g_trace = ggn[0], G.trace()
fv.expect(g_trace / net.dim <= g_top <= g_trace, "between its bounds")
print(f"tr / D {g_trace / net.dim:.4f} <= {g_top:.2f} <= tr {g_trace:.2f}")

# %% [markdown]
# ## References
#
# - Golub and Van Loan: Matrix Computations, 4th edition, chapter 10. Lanczos and its residuals.
# - Ghorbani, Krishnan, Xiao: An investigation into neural net optimization via Hessian eigenvalue density, 2019,
#   [arXiv 1901.10159](https://arxiv.org/abs/1901.10159).
# - Meyer, Musco, Musco, Woodruff: Hutch++, 2021, [arXiv 2010.09649](https://arxiv.org/abs/2010.09649).
# - [curvlinops](https://github.com/f-dangel/curvlinops): products with many curvature matrices.
#
# **Next**: [chapter 04](04_what_flat_means.ipynb) asks which of these numbers deserves the name "flatness".
