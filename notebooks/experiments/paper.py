# %% [markdown]
# # Experiment: the main experiment of SA-BMA, at its own size
#
# **Question.** A network pre-trained on ImageNet learns CIFAR-10 or CIFAR-100 from ten images a class. Norm layers and head
# are treated, 30 draws are averaged. Which method predicts best on the test images and on the official corrupted ones, and
# how flat is where it ends?  (Lim et al. 2025, arXiv 2406.15664)
#
# **Grid.** Thirteen methods: SGD, SAM, FisherSAM, bSAM, SWAG, F-SWAG, VI, SGLD, E-MCMC, PTL, and SA-BMA three times: the
# perturbation of the text (`sabma`), its rank-1 form (`rank1_pinv`), and that of the released code (`authors_code`). It is
# the study [transfer](transfer.ipynb) with other parameters, and runs the code of that notebook.
#
# **Bring.** All files lie on disk; nothing is downloaded.
#
# | what | where it comes from | parameter |
# |---|---|---|
# | images | CIFAR-10 or CIFAR-100 in Python's form: ROOT/cifar-10-batches-py or ROOT/cifar-100-python | `data=cifar10:ROOT` |
# | corrupted images | CIFAR-10-C (Zenodo 2535967) or CIFAR-100-C (3555552): labels.npy, and a file a corruption | `corrupted=FOLDER` |
# | weights | a state dict of the model: torchvision's `resnet18-f37072fd.pth`, or yours | `weights=FILE` |
# | for a SWAG prior | images of the classes that the weights know, in class folders | `prior=swag`, `source=image-folder:PATH` |
#
# ```sh
# flatviz run paper -p data=cifar10:ROOT -p corrupted=FOLDER -p weights=resnet18-f37072fd.pth --device cuda -p precision=bfloat16
# ```
#
# Add `-p model=vit_b_16` for ViT-B/16. Each seed, and each method's chosen settings, are kept as they are ready, so a run
# that was stopped goes on.
#
# **Short fits of the three forms of SA-BMA end nearly alike**, because with BatchNorm q starts with a hundredth of the prior's
# standard deviations and a step is about as long as these; `-p choices=FILE` starts wider, with
# `{"methods": {"sabma": {"settings": {"start_scale": 0.3}, "radius": 0.5, "head_std": null}}}` in FILE. The form `rank1_pinv`
# stays with VI from any start: [chapter 08](../08_from_sam_to_sabma.ipynb) says why.
#
# **Nothing is stored**: a run at the paper's size costs about twelve hours of an H100 with `test_images=1000`, and two cores cannot
# make one that tells the methods apart. With `-p table=FILE` the page shows a run of yours.
#
# **The cost is an estimate**, not measured. On an H100 a gradient of ResNet-18 with norm + head in bfloat16 was
# measured at 24,000 images a second and a forward pass at 130,000, both at 32 × 32 pixels (`data/README.md`); at 224 × 224 they cost
# 49 times as much. So a fit takes about half a minute and 15 GiB. Most of the time goes to the test: 10,000 images and 95 corrupted
# sets of as many, 30 draws each, are 29 million forward passes, three hours a method and seed, and a tenth of it with
# `-p test_images=1000`. `flatviz run paper` prints the estimate for your parameters, and starts with `--yes` where it exceeds ten
# minutes. Download 170 MB (CIFAR-10), 2.9 GB (CIFAR-10-C), 45 MB (weights).

# %% tags=["parameters"] minutes="len(METHODS.split(',')) * SEEDS * (TEST_IMAGES or 10_000) * (1 + (len(CORRUPTIONS.split(',')) if CORRUPTIONS else 19) * len(SEVERITIES.split(','))) * DRAWS * (SIDE / 32) ** 2 / 130_000 / 60" on="an H100"
RUN = False  # True computes everything, False reads TABLE
TABLE = ""  # path of a CSV file; nothing is stored
SAVE = ""  # path of a CSV file to write the table to
SEEDS = 3
METHODS = "sgd,f-sgd,fisher_sam,bsam,swag,f-swag,vi,sgld,emcmc,ptl,sabma,rank1_pinv,authors_code"  # names of `fv.METHODS`
DEVICE = "auto"
WORKERS = 1  # more than 1: so many processes
PRECISION = ""  # "bfloat16": products of training in that type
# images
DATA = "cifar10:data"  # cifar10:ROOT, cifar100:ROOT, or image-folder:PATH
TEST = "official"  # the test split of DATA, or images as DATA
CORRUPTED = ""  # folder of the official corrupted images; "": corruptions made here
CORRUPTIONS = ""  # names with commas between; "": all files of the folder
SEVERITIES = "1,2,3,4,5"
SHOTS = 10  # training images a class
TEST_IMAGES = 0  # to be judged on, and of each corruption and severity; 0: all
SIZE = 0  # pixels to which the images of a folder are scaled
TARGET_CLASSES = "all"  # names with commas between
# network and prior
MODEL = "resnet18"  # one of torchvision's, or resnet20
WIDTH = 8  # channels of resnet20's first stage
SIDE = 224  # pixels to which the network enlarges images
WEIGHTS = ""  # a file of weights
PRIOR = "moped"  # moped, or swag on SOURCE from the given weights
SOURCE = ""  # images of the classes that the weights know
SOURCE_IMAGES = 100  # of each of those classes, for pre-training and SWAG
EPOCHS = 10  # of pre-training on SOURCE, where WEIGHTS is ""
SOURCE_LR = 0.1
SNAPSHOTS = 5  # epochs of SWAG on the source
SWAG_LR = 0.001
TREATED = "norm+head"  # "authors": by parts of the names, as the released code
TRUNK = "fixed"  # "sampled": weights that are not treated are drawn from the prior, as the released code does
BATCHNORM = "frozen"
# fits
GRADIENTS = 150  # of each fit; a step of SAM or SA-BMA takes two
BATCH = 256  # images of a gradient; SWAG's are its record's
DRAWS = 30  # averaged
SPECTRA = 5  # draws whose λ1 and λ1/λ5 are computed
TRIALS = 6  # settings tried for each method
CHOICES = "paper_choices.json"  # the chosen settings are written to this file, and read from it

# %%
import pandas as pd
import torch

# %%
import flatviz as fv
from flatviz.experiments import COLUMNS, judged, paired, read_table, sentences, write_table
from flatviz.results import interval
from flatviz.site import defined_in

# %% [markdown]
# ## Run, or read

# %%
LEFT = {"RUN", "TABLE", "SAVE", "COLUMNS"}
given = {
    name: value
    for name, value in globals().items()
    if name.isupper() and name not in LEFT | {"LEFT"}
}
if RUN and not WEIGHTS and not SOURCE:
    raise ValueError(
        "this experiment needs a pre-trained network, got none: give -p weights=FILE, or -p source=IMAGES to pre-train on"
    )
if RUN:
    given |= dict(
        SOURCE_CLASSES="none",
        LEFT_OUT="none",
        CORRUPTIONS=CORRUPTIONS or ("" if CORRUPTED else "gaussian_noise,fog,pixelate"),
    )
    table = defined_in("transfer", **given)["study"]("paper")
elif TABLE:
    table = read_table(TABLE)
else:
    table = pd.DataFrame(columns=COLUMNS)
    print("Nothing is stored: run it, or give the CSV file of a run, -p table=FILE")
if SAVE:
    write_table(table, SAVE)

# %% [markdown]
# ## Scores
#
# Mean over seeds ± half of its 95 % interval; *corrupted*: mean over corruptions and severities; λ1: of the training loss
# over the treated weights, mean over draws.

# %%
HEADS = {"accuracy": "ACC %", "nll": "NLL", "ece": "ECE", "lambda1": "λ1", "ratio": "λ1/λ5", "shifted_accuracy": "corrupted ACC %",
         "shifted_nll": "corrupted NLL", "shifted_ece": "corrupted ECE", "seconds": "seconds a fit"}  # fmt: skip
wide = table.pivot_table(index=["method", "seed"], columns="quantity", values="value", sort=False)


def shown(method, quantity):
    """Mean over the seeds, and half of its 95 % interval."""
    mean, half = interval(
        torch.tensor(
            (100 if "accuracy" in quantity else 1) * wide.loc[method, quantity].dropna().to_numpy()
        )
    )
    return f"{mean:#.3g} ± {half:.2g}" if half == half else f"{mean:#.3g}"


scores = pd.DataFrame(
    {
        m: {head: shown(m, q) for q, head in HEADS.items() if q in wide}
        for m in dict.fromkeys(table.method)
    },
    dtype=object,
).T
scores.rename(index=lambda m: fv.METHODS[m].label)

# %% [markdown]
# ### By severity
#
# Accuracy in %, mean over corruptions and seeds.

# %%
parts = table.quantity.str.extract(r"^accuracy, (?P<kind>\w+) (?P<severity>\d)$")
long = pd.concat([table, parts], axis=1).dropna(subset="severity")
severe = long.pivot_table(index="method", columns="severity", values="value", sort=False)
(100 * severe).rename(index=lambda m: fv.METHODS[m].label).round(1)

# %% [markdown]
# ## Beside the authors' figures
#
# The tables of the paper could not be read when this was written. What follows are figures of the authors' own repository:
# `evaluate.csv` of commit 0256983 of github.com/SungJun98/SA-BMA (ResNet-18, 10 shots, mean ± standard deviation over 3
# seeds). Whether they are cells of a table of the paper is not known. They belong beside a run on the whole of CIFAR-10 or
# CIFAR-100 with ImageNet's weights, not beside those of a
# smaller run.

# %%
AUTHORS = """CIFAR-10 sabma 62.64±2.47 1.1786±0.066 0.0285±0.005
CIFAR-10 ptl 57.24±1.12 1.2303±0.027 0.0305±0.015
CIFAR-10 bsam 55.76±2.31 1.2883±0.057 0.0681±0.009
CIFAR-10 fisher_sam 54.04±3.36 1.4314±0.055 0.1394±0.008
CIFAR-100 sgd 44.29±0.68 2.1327±0.035 0.0252±0.004
CIFAR-100 f-sgd 45.51±0.54 2.0895±0.011 0.0648±0.005
CIFAR-100 swag 44.14±1.04 2.1604±0.048 0.0345±0.008
CIFAR-100 vi 44.30±0.34 2.1264±0.004 0.0469±0.005
CIFAR-100 f-swag 46.09±0.36 2.0892±0.013 0.0617±0.005"""
theirs = pd.DataFrame(
    [line.split() for line in AUTHORS.splitlines()],
    columns=["data", "method", "ACC %", "NLL", "ECE"],
)
beside = theirs.merge(
    scores.reindex(columns=["ACC %", "NLL", "ECE"]),
    left_on="method",
    right_index=True,
    suffixes=(", authors", ", here"),
    how="left",
)
beside.astype(object).fillna("").style.hide()

# %% [markdown]
# **What differs here from the released code.** Settings are chosen by the validation NLL of as many images as the shots;
# there, of 5,000. Every method has as many gradients, a step of SAM or SA-BMA two; there, as many epochs. There is no
# augmentation. The BatchNorm layers of shortcuts are treated too (`treated=authors` leaves them). Other weights stay at their
# source value (`trunk=sampled` draws them). Statistics of BatchNorm are the source's. ECE has 15 bins of equal width; there,
# of equal count. λ1 is over the treated weights; there, over all. The KL term is on. SWAG's draws have the covariance of its
# paper; there, twice that.
#
# ## Verdicts
#
# SA-BMA less each other method, paired by seed. A gain **holds** or **does not hold** where its *p*, corrected by Holm for
# all rows, is below 0.05; else it is **inconclusive**.

# %%
BETTER = {"accuracy": 1, "nll": -1, "ece": -1, "lambda1": -1}
rows = {m: wide.loc[m] for m in dict.fromkeys(table.method)}
claims = [paired(rows["sabma"], rows[m], BETTER).assign(claim="SA-BMA", against=fv.METHODS[m].label) for m in rows
          if m != "sabma" and "sabma" in rows]  # fmt: skip
claims = [c for c in claims if len(c)]
print(
    *(
        sentences(judged(pd.concat(claims, ignore_index=True), family="paper"))
        if claims
        else ["SA-BMA was not compared"]
    ),
    sep="\n",
)
