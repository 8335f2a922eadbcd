# %% [markdown]
# # 08 · How does SAM become SA-BMA?
#
# An engineer must set the height of a bridge. One height gives the calmest ride on a still day. But the deck sways, and
# if the next centimetre up is stormy, the calmest height is a bad choice. So the engineer asks another question: *at
# which height is the worst ride within ten centimetres least bad?*
#
# That question is SAM. SA-BMA asks it of somebody who does not own one bridge, but draws bridges from a distribution:
# *for which distribution is the worst distribution near it least bad?* All that is new is the word **near**.
#
# **You will learn** to
#
# - derive the step of SAM: the worst point in a ball;
# - measure the distance between two posteriors by the KL divergence, and see why it is a ball of another shape;
# - derive the step of SA-BMA: the worst *posterior* in a KL ball;
# - find SAM, VI and the natural gradient inside it as special cases, and Fisher-SAM beside it;
# - compare the formula with the perturbation that the paper's released code computes.
#
# **Takes** 40 minutes to read and half a minute to run on a CPU.
#
# **Needs** chapters [03](03_curvature.ipynb) and [06](06_vi_and_laplace.ipynb).

# %% tags=["parameters"]
FAST = False  # True shrinks the run: tests and a first look

# %%
import math

import ipywidgets
import torch

# %%
import flatviz as fv
from flatviz.families.tour import prepare
from flatviz.plots.theme import figure

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)

# %% [markdown]
# ## The two balls in one picture
#
# The engineer is sure of one weight and not of the other: her posterior $q$ is the grey ellipse, wide along the first weight
# (drawn at one standard deviation). The loss rises along the black line. SAM looks for the worst place in a round ball, dotted:
# on the black line, where else. SA-BMA looks for the worst *posterior* among those that are hard to tell from $q$; the blue ellipse
# holds their means. The orange ellipse is the worst of them, its cross the worst mean.
#
# **Predict first, then move the radius**: does the cross lie on the black line, as SAM's worst place does? On which side?
#
# How near is near, and how the worst one is found, is the rest of the chapter; here `fv.perturb` does it.

# %%
q = fv.Gaussian(torch.zeros(2), torch.tensor([0.0, -1.2]))  # means, logarithms of the widths
grad = torch.tensor([1.0, 1.0]), torch.tensor([0.3, 0.3]), q.factor  # of the mean loss in them

# %%
angle = torch.linspace(0, 2 * math.pi, 200)
circle = torch.stack([angle.cos(), angle.sin()], 1)


# %%
def ellipse(fig, centre, widths, name, **line):
    xy = centre + widths * circle
    fig.add_scatter(x=xy[:, 0], y=xy[:, 1], mode="lines", name=name, line=line)


# %%
def ellipses(fig, radius):
    step = fv.perturb(q, grad, radius=radius)
    ellipse(fig, q.mean, q.std, "q", color="#6b7780", width=3)
    ellipse(fig, q.mean, radius * q.std, "KL ball of the mean", color="#0072B2")
    ellipse(fig, q.mean, step[0].norm().expand(2), "SAM's ball", color="#CC79A7", dash="dot")
    return q.moved(step[:2])  # the worst


# %%
in_words = "Ellipses of a posterior, of its KL ball and of the worst posterior in it; SAM's round ball; the gradient"


def balls(radius):
    fig = figure(
        f"KL radius {radius:g}", in_words, xaxis=dict(title="first weight", range=[-2.2, 3.4])
    )
    worst = ellipses(fig, radius)
    return finish(fig, worst)


# %%
def finish(fig, worst):
    ellipse(fig, worst.mean, worst.std, "worst posterior", color="#D55E00", width=3)
    mean = dict(
        x=worst.mean[:1], y=worst.mean[1:], marker=dict(color="#D55E00", symbol="x", size=10)
    )
    fig.add_scatter(name="worst mean", mode="markers", **mean)
    fig.add_scatter(
        x=[0, float(grad[0][0])],
        y=[0, float(grad[0][1])],
        name="gradient",
        mode="lines",
        line_color="black",
    )
    return fig.update_yaxes(title="second weight", range=[-1.3, 1.5], scaleanchor="x")


# %%
_ = ipywidgets.interact(balls, radius=ipywidgets.FloatSlider(value=0.5, max=2.0, step=0.25))

# %% [markdown]
# *Figure: a grey ellipse, wide and low, around the origin; inside it a blue ellipse of the same shape, which a dotted circle
# crosses. A black line leaves the origin at 45 degrees. An orange ellipse, of the shape of the grey one and a little larger, has
# moved to the right, nearly along the wide axis. At radius 2 its centre is outside the grey one; at 0 the two coincide.*
#
# **Try** a gradient along an axis, `torch.tensor([1.0, 0.0])`; a round posterior, `torch.tensor([-1.2, -1.2])`; a loss that gains
# nothing by width, `torch.tensor([0.0, 0.0])` for the gradient's second part. In the first two the cross does lie on the black line.
#
# <details><summary>What one sees</summary>
#
# The worst mean does **not** lie on the gradient, unless $q$ is round or the gradient runs along an axis of $q$. It moves where $q$
# is wide, since steps are cheap there. That is the difference to SAM, and the one idea of the method.
#
# </details>
#
# **Number to expect**: over 50 draws the released code's perturbation has a mean cosine of 0, within 0.03, with the
# gradient of the loss; the formula's has 1 with $\Sigma g$. Cells below check it.

# %% [markdown]
# ## SAM: the worst point in a ball
#
# $L(w)$ is the mean loss of the training examples at the weights $w$. SAM, *sharpness-aware minimisation*, minimises the
# worst loss in a ball of radius $\rho$ around $w$:
#
# $$ \min_w \; \max_{\lVert e \rVert \le \rho} L(w + e) . $$
#
# **Step 1.** To first order $L(w + e) \approx L(w) + g^\top e$ with $g = \nabla L(w)$.
#
# **Step 2.** By Cauchy-Schwarz $g^\top e \le \lVert g \rVert \lVert e \rVert \le \rho \lVert g \rVert$, with equality for
#
# $$ e^\star = \rho \, \frac{g}{\lVert g \rVert} . $$
#
# **Step 3.** Go there, take the gradient *there*, and apply it *here*, with the learning rate $\eta$:
# $w \leftarrow w - \eta \nabla L(w + e^\star)$.
#
# In flatviz `fv.SAM(rho)` is that rule: called with weights and gradient it returns $e^\star$.

# %%
g, rho = torch.tensor([3.0, 4.0]), 0.5
e = fv.SAM(rho)(torch.zeros(2), g)
fv.expect(e, rho * g / g.norm(), by="the formula")
others = torch.nn.functional.normalize(torch.randn(1000, 2, generator=generator), dim=1) * rho
fv.expect((others @ g).max() <= e @ g + 1e-6, "no direction of that length gains more")

# %% [markdown]
# ### Why this finds flat places
#
# Put $e^\star$ into step 1: to first order SAM minimises $L(w) + \rho \lVert \nabla L(w) \rVert$. In a bowl
# $L = \tfrac12 w^\top H w$ the gradient is $Hw$, so of two bowls with the same floor the *steeper* one pays more. Near the
# floor the step itself says it:
#
# $$ \nabla L(w + e^\star) = H (w + e^\star) = H w + \rho\, \frac{H g}{\lVert g \rVert} . $$
#
# The first part vanishes at the floor. The second does not shrink with $g$: its length stays near $\rho$ times the
# curvature. With a curvature of 10 SAM is thrown off the floor ten times as hard as with one of 1, and rests where the
# curvature is small.

# %%
H = torch.diag(torch.tensor([10.0, 1.0]))
gradient = torch.func.grad(lambda w: 0.5 * w @ H @ w)  # of the bowl
w = torch.tensor([0.3, -0.2])
there = gradient(w + fv.SAM(rho)(w, gradient(w)))
fv.expect(there, H @ w + rho * H @ gradient(w) / gradient(w).norm(), by="the formula")

# %%
for share in (
    1.0,
    1e-3,
    1e-6,
):  # ever nearer to the floor, along the sharp and along the flat direction
    sharp, flat = (H @ (u + fv.SAM(rho)(u, H @ u)) for u in share * torch.eye(2))
    print(f"{share:6g} from the floor: SAM's gradient {sharp.norm():6.3f} and {flat.norm():.3f}")

# %% [markdown]
# ## Near, for distributions
#
# Now let $q_\theta(w)$ be a Gaussian posterior with parameters $\theta = (\mu, \log\sigma)$, as in
# [chapter 06](06_vi_and_laplace.ipynb). Two such posteriors are near when their draws can hardly be distinguished. The
# measure for that is the Kullback-Leibler divergence
#
# $$ \mathrm{KL}(q' \Vert q) = \mathbb{E}_{w \sim q'} \left[ \log \frac{q'(w)}{q(w)} \right] . $$
#
# For two Gaussians in one dimension take the logarithm of both densities; under $q'$ the mean of $(w - \mu')^2$ is
# $\sigma'^2$, and that of $(w - \mu)^2$ is $\sigma'^2 + (\mu' - \mu)^2$:
#
# $$ \mathrm{KL}(q' \Vert q) = \log \frac{\sigma}{\sigma'} + \frac{\sigma'^2 + (\mu' - \mu)^2}{2 \sigma^2} - \frac12 . $$

# %%
one = fv.Gaussian(torch.tensor([0.0]), torch.tensor([math.log(2.0)]))
other = fv.Gaussian(torch.tensor([1.0]), torch.tensor([math.log(1.0)]))
by_hand = math.log(2 / 1) + (1 + 1) / (2 * 4) - 0.5
fv.expect(other.kl(one), by_hand, by="the formula")

# %% [markdown]
# ### Its second-order shape is the Fisher matrix
#
# Move $\mu$ by $\Delta_\mu$ and $\log\sigma$ by $\Delta_s$, so that $\sigma' = \sigma e^{\Delta_s}$ (in code:
# `q.moved([mean_step, log_std_step])`). Put it in:
#
# $$ \mathrm{KL} = -\Delta_s + \tfrac12 e^{2 \Delta_s} - \tfrac12 + \frac{\Delta_\mu^2}{2\sigma^2} . $$
#
# Expand $e^{2\Delta_s} = 1 + 2\Delta_s + 2\Delta_s^2 + \dots$; the linear terms cancel, and
#
# $$ \mathrm{KL} \approx \tfrac12 \left( \frac{\Delta_\mu^2}{\sigma^2} + 2 \Delta_s^2 \right)
#    = \tfrac12\, \Delta^\top F \Delta, \qquad F = \begin{pmatrix} 1/\sigma^2 & 0 \\ 0 & 2 \end{pmatrix} . $$
#
# $F$ is the **Fisher matrix** of $q$. No data and no network are in it: it says how a *Gaussian* changes.
#
# **Read it**: where $q$ is wide, a long step of the mean changes little. The ball of posteriors near $q$ is stretched
# along the directions of which $q$ itself is unsure.

# %%
step = torch.tensor([0.02]), torch.tensor([0.01])
exact = fv.results.placed(one, torch.float64)  # this KL is near float32's rounding
kl = float(exact.moved([d.double() for d in step]).kl(exact))
quadratic = 0.5 * (0.02**2 / 4 + 2 * 0.01**2)
fv.expect(kl, quadratic, rtol=0.02, by="the second order")

# %% [markdown]
# ## SA-BMA: the worst posterior in a KL ball
#
# Let $\ell(\theta) = \mathbb{E}_{w \sim q_\theta}[L(w)]$ be the mean loss of the draws, $p$ the prior, $N$ the number of
# examples and $T$ the temperature of [chapter 06](06_vi_and_laplace.ipynb). SA-BMA minimises
#
# $$ \min_\theta \; \max_{\mathrm{KL}(q_{\theta + \Delta} \Vert q_\theta) \le \gamma^2/2} \; \ell(\theta + \Delta)
#    \;+\; \frac{T}{N} \mathrm{KL}(q_\theta \Vert p) . $$
#
# **Step 1.** First order for the loss, second order for the ball: maximise $g^\top \Delta$ where
# $\Delta^\top F \Delta \le \gamma^2$, with $g = \nabla_\theta\, \ell$.
#
# **Step 2.** At the maximum $g$ is a multiple of the gradient of the constraint (Lagrange, with the multiplier $c$):
# $g = 2c F \Delta$, so $\Delta = F^{-1} g / (2c)$.
#
# **Step 3.** The constraint fixes the length: $\Delta^\top F \Delta = g^\top F^{-1} g / (2c)^2 = \gamma^2$, so
# $2c = \sqrt{g^\top F^{-1} g} / \gamma$ and
#
# $$ \boxed{\;\Delta^\star = \gamma \, \frac{F^{-1} g}{\sqrt{g^\top F^{-1} g}}\;} $$
#
# So $\gamma = \sqrt{2\,\mathrm{KL}}$: the unit of every SA-BMA radius in this course.
#
# `fv.perturb` computes it. A `fv.Gaussian` of this library has three blocks of parameters, (mean, log_std, factor); the factor
# holds correlations and is empty here, so the third block of gradient and step stays empty, too.

# %%
gamma = 0.5
inverse = q.std**2 * grad[0], grad[1] / 2  # F^-1 g for a diagonal Gaussian
length = (grad[0] @ inverse[0] + grad[1] @ inverse[1]).sqrt()

# %%
mean_step, width_step, _ = fv.perturb(q, grad, radius=gamma)
fv.expect(mean_step, gamma * inverse[0] / length, by="the formula")
fv.expect(width_step, gamma * inverse[1] / length, by="the formula")
print("step of the mean", mean_step.numpy().round(3), "of log std", width_step.numpy().round(3))

# %% [markdown]
# **A check on another path**: of 20,000 random steps on the edge of that ball, $\Delta^\top F \Delta = \gamma^2$, does any
# raise $g^\top \Delta$ more?

# %%
directions = torch.randn(20000, 4, generator=generator)
fisher = torch.cat([q.std**-2, torch.full((2,), 2.0)])  # the diagonal of F
directions *= gamma / (directions.square() @ fisher).sqrt()[:, None]
gains = directions @ torch.cat(grad[:2])
best = torch.cat([mean_step, width_step]) @ torch.cat(grad[:2])

# %%
fv.expect(gains.max() <= best * (1 + 1e-5), "none raises it more")  # rounding
print(f"best of the random steps {gains.max():.3f}, the formula {best:.3f}")

# %% [markdown]
# So the worst mean of the first picture does not lie on the gradient $g$ of the mean, but on $\Sigma g$, which for a round $q$, or a
# $g$ along an axis, is the same:

# %%
fv.expect(mean_step, gamma / length * q.variance * grad[0], by="the direction of Σg")
fv.expect(torch.cosine_similarity(mean_step, grad[0], dim=0), 0.76, atol=0.01)  # with g itself

# %% [markdown]
# **The radius is a second-order unit.** The boxed step has $\tfrac12 \Delta^\top F \Delta = \gamma^2/2$ exactly, but the KL only
# to that order. For a step of the mean alone the two agree at every length; widths that grow reach farther than the second order
# says, widths that shrink less far. What $\sqrt{2\,\mathrm{KL}}$ is reached by the step of the picture, and by steps of the widths
# alone, up and down (`radius_unit="kl"` makes the radius exact in every case):

# %%
up, down = ((0 * grad[0], sign * torch.ones(2), q.factor) for sign in (1, -1))
for radius in (0.5, 1.0, 2.0, 4.0):
    worst = [q.moved(fv.perturb(q, g, radius=radius)) for g in (grad, up, down)]
    reached = torch.stack([(2 * other.kl(q)).sqrt() for other in worst])
    print(
        f"radius {radius:g}: picture {reached[0]:.2f}, wider {reached[1]:.2f}, narrower {reached[2]:.2f}"
    )
fv.expect(reached, torch.tensor([4.08, 9.96, 2.46]), atol=0.01)

# %% [markdown]
# ## Three old friends inside the formula
#
# **SAM.** Let $q = N(\mu, \sigma_0^2 I)$ with $\sigma_0$ fixed, so that only the mean moves (`blocks="mean"`). Then
# $F = \sigma_0^{-2} I$ and $\Delta_\mu = \gamma \sigma_0\, g / \lVert g \rVert$: SAM with $\rho = \gamma\sigma_0$.

# %%
sigma0 = 0.1
round_q = fv.Gaussian(torch.zeros(2), torch.full((2,), math.log(sigma0)))
only_mean = fv.perturb(round_q, grad, radius=gamma, blocks="mean")[0]
fv.expect(only_mean, fv.SAM(gamma * sigma0)(round_q.mean, grad[0]), by="SAM")

# %% [markdown]
# **Natural gradient.** $F^{-1} g$ *is* the natural gradient of $\ell$: the steepest ascent where length is measured by KL.
# $\Delta^\star$ is the step of length $\gamma$ along it. Put it into $\ell + g^\top \Delta$:
# $\ell(\theta + \Delta^\star) \approx \ell + \gamma \sqrt{g^\top F^{-1} g}$. SA-BMA penalises the length of the natural
# gradient, where SAM penalises that of the plain one.
#
# **Fisher-SAM** has the same formula with another $F$, so it is no special case: the distance is that between the *predictions* of
# one network, not between posteriors, and its Fisher matrix depends on data and network. In practice it is replaced by a
# diagonal made of the squared gradient, $F = 1 + g_i^2$:

# %%
uneven = torch.tensor([1.0, 0.1])
print("gradient  ", uneven.numpy())
print("SAM       ", fv.SAM(rho)(torch.zeros(2), uneven).numpy().round(3))
fisher_sam, F = fv.FisherSAM(rho)(torch.zeros(2), uneven), 1 + uneven**2
print("Fisher-SAM", fisher_sam.numpy().round(3), "shorter where the gradient is large")
fv.expect(fisher_sam, rho * (uneven / F) / (uneven @ (uneven / F)).sqrt(), by="the box")

# %% [markdown]
# **VI.** At $\gamma = 0$ nothing is perturbed, and SA-BMA is variational inference, bit for bit. Now on the course's digits:
# `prepare` does the first three steps of [chapter 00](00_tour.ipynb) for the task of the chapters since (source turned by 90
# degrees, ten digits a class): it returns the network, the task, and the prior that SWAG estimated on the source.

# %%
net, task, prior = prepare(task=fv.datasets.digits_transfer(), epochs=5 if FAST else 60)
settings = dict(steps=20) if FAST else {}
vi = fv.fit(net, task.train, fv.VI(prior), seed=0, **settings)
zero = fv.fit(net, task.train, fv.SABMA(prior, radius=0.0), seed=0, **settings)
same = torch.equal(vi.mean, zero.mean) and torch.equal(vi.log_std, zero.log_std)
fv.expect(same, "radius 0 is VI, bit for bit")

# %% [markdown]
# ## One step of the algorithm, line by line
#
# $z$ is the noise of a draw, $w_\theta(z) = \mu + \sigma z$; the loss of one draw estimates its mean $\ell(\theta)$.
#
# | line of the algorithm | line of code: rows 1 to 3 in `posteriors/sabma.py`, row 4 in `training/variational.py` |
# |---|---|
# | $g = \nabla_\theta L(w_\theta(z))$ | `here = nll(q, blocks=...)` |
# | $\theta^+ = \theta + \Delta^\star$ | `worst = q.moved(self.perturbation(q, here.grad, self.radius, ...))` |
# | $g^+ = \nabla_\theta L(w_{\theta^+}(z))$, same $z$ | `there = nll(worst)` |
# | $\theta \leftarrow \theta - \eta\,(g^+ + \tfrac{T}{N}\nabla \mathrm{KL})$ | `self.descent.update(s, g, noise)` |
#
# These lines are the `update` of `fv.SABMA`, which takes a state and noise and gives the next state. So you can take
# the steps yourself. Its fields are prior, radius, rate, $T$ and $N$; `fv.training.Descent` adds the gradient of the KL term, and steps with momentum.

# %%
loss = fv.training.training_loss(net, task.train)
sabma = fv.SABMA(prior, radius=2.0, lr=0.5, kl_weight=0.03, n=len(task.train))

# %%
state, early = sabma.init(prior), None
for step in range(20 if FAST else 200):
    early = state.q if step == 10 else early
    state, record = sabma.update(state, loss, None, noise=prior.noise(1, seed=step))
    if step % 40 == 0:
        print(
            f"step {step:3d}: loss {record.loss:.3f}, gained by the ascent {record.sharpness:.3f}, KL {record.kl:.1f}"
        )

# %% [markdown]
# **Is the row of the boxed formula in there?** With the same noise, by autograd: the gradient of the loss of one draw in
# $(\mu, \log\sigma)$, the step $\Delta^\star$, and the loss at $\theta^+$.

# %%
noise = prior.noise(1, seed=7)
theta = [t.clone().requires_grad_(True) for t in (state.mean, state.log_std)]
L = fv.nll(net, task.train)
at = lambda mean, log_std: L(mean + log_std.exp() * noise[0][0] + noise[1][0] @ state.factor)
g_theta = torch.autograd.grad(at(*theta), theta)

# %%
delta = fv.perturb(state.q, (*g_theta, torch.zeros_like(state.factor)), radius=2.0)
by_hand = at(theta[0] + delta[0], theta[1] + delta[1]) - at(*theta)
_, record = sabma.update(state, loss, None, noise)
print(f"gained by hand {by_hand:.5f}, in the step {record.sharpness:.5f}")
fv.expect(by_hand, record.sharpness, atol=1e-4, by="the step")

# %% [markdown]
# `fv.SABMA` takes such steps, of eight draws (of a large network the draws share the examples) and with a falling rate, and returns
# the posterior. Two gradients a step, so a fair
# comparison with VI gives VI twice the steps. `history.sharpness` records what the ascent gained,
# $L(w_{\theta^+}) - L(w_\theta)$, at every step.

# %%
flat = fv.fit(net, task.train, fv.SABMA(prior, radius=2.0), seed=0, **settings)
gained = flat.history.sharpness
fv.expect(gained.mean() > 0, "the ascent does raise the loss")
print(
    f"the ascent gains {gained[:20].mean():.3f} nats at first, {gained[-20:].mean():.3f} at the end"
)

# %% [markdown]
# ### The same step early and late in training
#
# Now $q$ after ten of these steps, and the $q$ of the fit: each on the plane through its mean that holds $\Sigma g$, along which
# the formula moves the mean, and $g$, along which SAM does. (In the browser, `fv.playground(["step"])` takes such a step in
# phases, live.)
#
# **Predict first**: does the ball keep its shape while $q$ learns?


# %%
def ascended(q):
    """The gradient in q's mean of the mean loss of 32 draws, and the worst q' of q's ball."""
    theta = [t.clone().requires_grad_(True) for t in (q.mean, q.log_std, q.factor)]
    z1, z2 = q.noise(32, seed=0)
    draws = theta[0] + theta[1].exp() * z1 + z2 @ theta[2]
    g = torch.autograd.grad(torch.stack([L(w) for w in draws]).mean(), theta)
    return g[0], q.moved(fv.perturb(q, g, radius=2.0))


# %%
def seen_from(q, side=9 if FAST else 31):
    """The loss on the plane of Sigma g and g at q, with the projections of q and of the worst q'."""
    g, worst = ascended(q)
    plane = fv.plane_along(q.mean, q.cov_mul(g), g, orthonormal=True, name="plane of the step")
    here, there = fv.project(q, plane), fv.project(worst, plane)
    reach = 2.8 * float(here.covariance.diagonal().max().sqrt())
    return fv.slice_plane(L, plane, extent=reach, resolution=side), here, there


# %%
def shadow(fig, seen, widths, name, **line):
    """The projection of a Gaussian, so many standard deviations wide."""
    x, y = (seen.coords[0] + widths * circle @ torch.linalg.cholesky(seen.covariance).T).T
    fig.add_scatter(x=x, y=y, mode="lines", name=name, line=line)


# %%
def step_on(surface, here, there, title):
    """The loss on the plane, q and q' at one standard deviation, and the ball around q."""
    fig = fv.plot_surface(surface, title=title)
    shadow(fig, here, 2.0, "its ball", color="#56B4E9", dash="dash")
    shadow(fig, here, 1.0, "q", color="#56B4E9", width=3)
    shadow(fig, there, 1.0, "the worst q′", color="#E69F00", width=3)
    return fig.add_scatter(
        x=there.coords[:, 0],
        y=there.coords[:, 1],
        mode="markers",
        name="its mean",
        marker=dict(color="#E69F00", size=9),
    )


# %%
step_on(*seen_from(early), "One step from q after 10 steps")

# %%
step_on(*seen_from(flat), "One step from q of the fit")

# %% [markdown]
# *Figures: the loss over the plane of the step, early above and late below; a blue ellipse, q, inside a dashed one of the same
# shape, its ball, and an orange ellipse, q', moved from q towards the ball's rim.*
#
# **Try** the step from the prior, `seen_from(prior)`; a shorter radius in `ascended`; VI's solution, `seen_from(vi)`.
#
# Ball and ellipse have one shape at either moment, and both change together: the ball is the ellipse of $q$ times the radius.

# %% [markdown]
# ## What the radius does
#
# **Predict first**: with a larger radius, does the largest Hessian eigenvalue fall? And the test NLL?
#
# One seed is an anecdote. The averages below are over three; `flatviz run frontier` gives intervals over forty.

# %%
L = fv.nll(net, task.train)
grid = [0.0, 2.0] if FAST else [0.0, 0.5, 1.0, 2.0, 4.0]
seeds = [0] if FAST else [0, 1, 2]
family = [fv.SABMA(prior, radius=radius) for radius in grid]
found = fv.fit_many(net, task.train, family, seeds=seeds, **settings)
fits = {(grid[i], seed): q for (i, seed), q in found.items()}


# %%
def largest(q):
    """Mean over three draws of the largest eigenvalue."""
    return torch.stack([fv.top_eigenpairs(L, w, 1).values[0] for w in q.sample(3, seed=1)]).mean()


# %%
lam = {r: torch.stack([largest(fits[r, s]) for s in seeds]).mean() for r in grid}
scores = {
    (r, s): fv.predict(net, fits[r, s], task.test, 30, seed=1).scores for r in grid for s in seeds
}
nll = {r: sum(float(scores[r, s]["nll"][-1]) for s in seeds) / len(seeds) for r in grid}
for r in grid:
    print(f"radius {r:<4g} largest eigenvalue {lam[r]:5.2f}   test NLL {nll[r]:.3f}")

# %%
alt = f"Largest eigenvalue from {lam[grid[0]]:.2f} to {lam[grid[-1]]:.2f}, test NLL from {nll[grid[0]]:.3f} to {nll[grid[-1]]:.3f}"
left = dict(title="largest eigenvalue λ1", color="#0072B2", rangemode="tozero")
right = dict(
    title="test NLL (nats)",
    color="#D55E00",
    overlaying="y",
    side="right",
    showgrid=False,
    tickformat=".3f",
)
margin = dict(l=60, r=70, t=76, b=52)
fig = figure(
    "What the radius buys, and what it costs",
    alt,
    yaxis=left,
    yaxis2=right,
    height=420,
    margin=margin,
)

# %%
fig.add_scatter(x=grid, y=[float(lam[r]) for r in grid], name="λ1 (left)", line_color="#0072B2")
fig.add_scatter(
    x=grid,
    y=[nll[r] for r in grid],
    name="test NLL (right)",
    yaxis="y2",
    line=dict(color="#D55E00", dash="dash"),
)
fig.update_xaxes(title="radius γ, in widths of q")

# %% [markdown]
# *Figure: the largest eigenvalue (solid, left axis) and the test NLL (dashed, right axis) against the radius, means over three
# seeds. The eigenvalue falls by a tenth up to radius 2 and is largest at radius 4; the NLL rises.*
#
# **Try** two more seeds (`seeds = [3, 4]`): does the eigenvalue still fall, and by how much? A radius in between, 3; or all
# in the unit of SAM, `mode="sam_mu"` with a grid from 0 to 0.5.
#
# So a ball that grows does not always lead to flatter ground. What over forty seeds the radius does, and whether a lower
# temperature of VI does the same, [chapter 10](10_flatness_and_averaging.ipynb) and
# [frontier](experiments/frontier.ipynb) ask.

# %%
if not FAST:
    fv.expect(lam[2.0] / lam[0.0], 0.9, atol=0.05)
    fv.expect(max(lam, key=lam.get), 4.0)
    fv.expect(nll[0.0] < nll[2.0] < nll[4.0], "the NLL rises")

# %% [markdown]
# ## What the released code does
#
# The paper's released code perturbs along the **score** of the draw, $\nabla_\theta \log q_\theta(w)$, normalised in each
# block, where the formula has $F^{-1} g$. The score does not know the loss: it points from the mean to where the noise
# happened to fall. `fv.perturb` has a word for each way to perturb, `mode`: `kl_exact` is the formula above, `sam_mu` moves
# the mean as SAM does, `authors_code` does what the released code does.
#
# **Check**: the cosine of the mean's step with the gradient of the loss, for 50 draws of the noise, at the prior's mean. (A
# `Gaussian` with a factor has two noises, `z1` for its diagonal and `z2` for its factor. The gradient of the widths is left
# out, so the formula's step is $\Sigma g$ for the covariance $\Sigma$ of the prior.)

# %%
w = prior.mean.clone().requires_grad_(True)
(g,) = torch.autograd.grad(L(w), w)
full = (g, g * 0, torch.zeros_like(prior.factor))
z1, z2 = prior.noise(50, seed=3)

# %%
released = [
    fv.perturb(prior, full, radius=1.0, mode="authors_code", noise=(a, b))[0]
    for a, b in zip(z1, z2)
]
released_cosines = torch.stack([torch.cosine_similarity(d, g, dim=0) for d in released])
formula = fv.perturb(prior, full, radius=1.0)[0]
print(f"released code: mean cosine {released_cosines.mean():.3f} ± {released_cosines.std():.3f}")
print(f"formula, with Σg: {torch.cosine_similarity(formula, prior.cov_mul(g), dim=0):.3f}")

# %%
fv.expect(released_cosines.mean(), 0, atol=0.03)  # no direction of the loss
along = torch.cosine_similarity(formula, prior.cov_mul(g), dim=0)
fv.expect(along, 1)  # the formula's step is along Σg, and so uphill

# %% [markdown]
# So the released code adds noise to the point at which the gradient is taken; the formula ascends. Both are modes of
# `fv.SABMA`, and `fv.METHODS` has an entry for each.
#
# ### Between the two: the Fisher matrix of one draw
#
# An earlier version of that code put $s s^\top$ for $F$, $s$ the score of one draw, and inverted it by pseudo-inverse
# (`rank1_pinv`): $\Delta = \gamma\, \mathrm{sign}(s^\top g)\, s / \lVert s \rVert^2$. It knows the loss, but only its sign
# along $s$. The score of weight $i$ is $z_i / \sigma_i$, so its step is $\propto z_i / \sigma_i^2$ of its own width: **the
# narrowest weights take the step**. Were all equally wide, its length would be $\gamma / \lVert z \rVert \approx \gamma / \sqrt D$.

# %%
narrow = prior.std <= prior.std.quantile(0.1)
for mode in ("kl_exact", "rank1_pinv"):
    step = fv.perturb(prior, full, radius=1.0, mode=mode, noise=(z1[0], z2[0]))[0]
    squares, rise = (step / prior.std).square(), float(L(prior.mean + step) - L(prior.mean))
    share = squares[narrow].sum() / squares.sum()
    print(
        f"{mode}: {share:.0%} of the squared step in the narrowest tenth of the weights; the loss rises by {rise:.2g}"
    )

# %%
fv.expect(bool(share > 0.9) and abs(rise) < 1e-3, "the pseudo-inverse moves the narrowest alone")

# %% [markdown]
# A fit with such steps ends where VI ends (`flatviz run frontier`). A wider start or a larger floor of the prior's widths does
# not change that; damping (`rank1_damped`) does in part.
#
# **One unit for all modes.** What a radius of 1 is in each mode, the exact $\sqrt{2\,\mathrm{KL}(q' \Vert q)}$, differs by orders of
# magnitude from that of `kl_exact`. `history.reach` of a fit says it at every step, and with `radius_unit="kl"` the radius is that.

# %%
for mode in ("rank1_pinv", "rank1_damped", "sam_mu", "authors_code"):
    ways = [fv.Perturbation(mode, radius_unit=unit) for unit in ("mode", "kl")]
    of_mode = [fv.SABMA(prior, radius=1.0, perturbation=way) for way in ways]
    nominal, exact = (fv.fit(net, task.train, method, steps=5, seed=0) for method in of_mode)
    print(
        f"{mode:12s}: radius 1 reaches {nominal.history.reach.median():.3g}; in KL {exact.history.reach.median():.3g}"
    )
    fv.expect(exact.history.reach.median(), 1, rtol=0.02)

# %% [markdown]
# ## Flat without a second gradient
#
# **The draws themselves flatten.** *Variational learning finds flatter solutions at the edge of stability* (Ghosh et al. 2025) derives
# on a quadratic at which curvature a fit of VI becomes unstable, and extends it to deep networks: the shape of the
# posterior and the number of draws a step control how flat the solution is, and it can be flatter than that of gradient descent.
# In flatviz: `flatviz run along` shows the edge of stability of plain gradient descent; the experiment
# [draws](experiments/draws.ipynb) varies the number of draws of VI and SA-BMA. It compares them with each other at equal training loss, and
# does not test the paper's stability threshold.
#
# **IVON** (Shen et al. 2024) is VI by the natural gradient, with a running estimate of the Hessian from the same draws. The paper
# reports that it matches or outperforms Adam on large networks at nearly the same cost, with better predictive uncertainty. In flatviz:
# `fv.IVON`; `flatviz run compare -p methods=ivon,vi` compares it with VI on a small network, which tests no claim on large ones.
#
# ## Summary
#
# - SAM takes the gradient at the worst point of a Euclidean ball, $e^\star = \rho g / \lVert g \rVert$.
# - Distance between posteriors is KL; to second order $\tfrac12 \Delta^\top F \Delta$, $F$ the Fisher matrix of $q$.
# - SA-BMA takes the gradient at the worst posterior of that ball, $\Delta^\star = \gamma F^{-1}g / \sqrt{g^\top F^{-1} g}$.
# - SAM, VI and the step of the natural gradient are special cases; Fisher-SAM has the formula with another Fisher matrix.
# - A step costs two gradients: compare at equal gradients, too.
# - The released code perturbs along the score, which does not know the loss; with the score's pseudo-inverse nearly all of the
#   step is in the narrowest weights.
#
# ## Exercises
#
# **1.** Show that $\Delta^\star$ does not change when the loss is multiplied by a constant $c > 0$. Why does that matter
# for choosing a radius?
#
# <details><summary>Solution</summary>
#
# $g$ becomes $c g$, numerator and denominator both grow by $c$. So a radius means the same early in training, when
# gradients are large, and late, when they are small; and for the sum and for the mean of the losses.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
scaled = fv.perturb(q, tuple(100 * t for t in grad), radius=gamma)
fv.expect(scaled[0], mean_step, by="the step before")

# %% [markdown]
# **2.** How much KL does a radius of 2 allow, in nats? And if all 906 treated weights share it alike: by how many standard
# deviations may each mean move? (Start from the quadratic form of the KL, with a step of $\delta\sigma_i$ for every weight.)
#
# <details><summary>Solution</summary>
#
# $\mathrm{KL} = \gamma^2 / 2 = 2$ nats. Each weight moves by $\delta$ standard deviations with $906\, \delta^2 = 4$: about
# 0.07. In many dimensions a small radius is spread thin; the step is large only along $\Sigma g$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
delta = math.sqrt(4 / 906)
moved = fv.Gaussian(prior.mean + delta * prior.log_std.exp(), prior.log_std)
fv.expect(moved.kl(fv.Gaussian(prior.mean, prior.log_std)), 2)
fv.expect(delta, 0.07, atol=0.01)

# %% [markdown]
# **3.** In `mode="sam_mu"` the radius is Euclidean. Why must a slider not carry the number 1.0 from `kl_exact` to
# `sam_mu`?
#
# <details><summary>Solution</summary>
#
# A KL radius of 1 moves the mean by at most one standard deviation of $q$, along $\Sigma g$; the widths share the budget. With
# standard deviations of some hundredths that is a short step. A Euclidean radius of 1 is a step of length 1, many times longer.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
near = fv.perturb(vi, full, radius=1.0)[0].norm()
far = fv.perturb(vi, full, radius=1.0, mode="sam_mu")[0].norm()
fv.expect(bool(far > 2 * near), "the Euclidean step is more than twice as long")

# %% [markdown]
# **4.** Bonnet's theorem: $\nabla^2_\mu \mathbb{E}_q[L(w)] = \mathbb{E}_q[\nabla^2 L(w)]$. What does it say about the word
# "flat" in "flat posterior"? Check it on $L(w) = w^4$ in one dimension. (The fourth moment of $N(\mu, \sigma^2)$ is
# $\mu^4 + 6\mu^2\sigma^2 + 3\sigma^4$.)
#
# <details><summary>Solution</summary>
#
# Flatness of the expected loss *in the parameters of q* is the average Hessian *over the weights that q draws*. For
# $q = N(\mu, \sigma^2)$: $\mathbb{E}[w^4] = \mu^4 + 6\mu^2\sigma^2 + 3\sigma^4$, so the left side is
# $12\mu^2 + 12\sigma^2$. The right side is $\mathbb{E}[12 w^2] = 12(\mu^2 + \sigma^2)$.
#
# </details>

# %% tags=["hide-cell"] jupyter={"source_hidden": true}
mu, sigma = 0.7, 0.4
draws = mu + sigma * torch.randn(400_000, generator=generator)
fv.expect((12 * draws**2).mean(), 12 * mu**2 + 12 * sigma**2, rtol=0.01, by="the formula")

# %% [markdown]
# ## References
#
# - Foret, Kleiner, Mobahi, Neyshabur: Sharpness-aware minimization, 2021, [arXiv 2010.01412](https://arxiv.org/abs/2010.01412).
# - Kim, Li, Hu, Hospedales: Fisher SAM, 2022, [arXiv 2206.04920](https://arxiv.org/abs/2206.04920).
# - Lim et al.: Flat posterior does matter for Bayesian model averaging, 2024,
#   [arXiv 2406.15664](https://arxiv.org/abs/2406.15664), and its [released code](https://github.com/MLAI-Yonsei/SA-BMA).
# - Amari: Natural gradient works efficiently in learning, Neural Computation 10, 1998,
#   [doi 10.1162/089976698300017746](https://doi.org/10.1162/089976698300017746).
# - Ghosh et al.: Variational learning finds flatter solutions at the edge of stability, 2025,
#   [arXiv 2506.12903](https://arxiv.org/abs/2506.12903).
# - Shen et al.: Variational learning is effective for large deep networks, 2024, [arXiv 2402.17641](https://arxiv.org/abs/2402.17641).
#
# **Next**: [chapter 09](09_flat_seeking_everything.ipynb) gives the same gradient to SWAG, VI, SGLD, dropout and ensembles.
