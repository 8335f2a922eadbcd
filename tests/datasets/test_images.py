"""Images from folders, torchvision's sets and data sets of the user's, on small files in the real
formats."""

import os
import pickle

import numpy as np
import torch
from cases import refused, warned
from PIL import Image
from published import write_mnist
from pytest import fixture, mark
from torch import arange, bincount, full, tensor, uint8, zeros

import flatviz as fv
from flatviz.datasets import image_folder, images, images_like, public_images

NARROW = np.arange(80, dtype=np.uint16).reshape(10, 8)


def write(path, *, mode="RGB", size=(8, 10), color=0):
    """An image of one colour."""
    path.parent.mkdir(exist_ok=True)
    Image.new(mode, size, color).save(path)


@fixture
def folder(tmp_path):
    """Three classes of four images, 10 x 8; every pixel of image i of class c is 20 c + i."""
    for c, name in enumerate(("ant", "bee", "cat")):
        for i in range(4):
            write(tmp_path / name / f"{i}.png", color=(20 * c + i,) * 3)
    return tmp_path


def counts(data):
    """How many images each class has."""
    return bincount(data.y).tolist()


def test_a_folder_of_class_folders_keeps_pixels_and_numbers_classes_by_name(folder):
    data = image_folder(folder)
    assert data.x.shape == (12, 3, 10, 8)
    assert counts(data) == [4, 4, 4]
    assert torch.allclose(data.x[5], full((3, 10, 8), 21 / 255))
    few = image_folder(folder, per_class=2, seed=3, size=6)
    assert few.x.shape == (6, 3, 6, 6)
    assert counts(few) == [2, 2, 2]


def test_images_of_another_set_take_the_shape_of_the_first():
    grey = fv.Data(arange(0, 250, 10, dtype=uint8).view(1, 1, 5, 5), tensor([0]))
    coloured = images_like(grey, (3, 5, 5))
    assert torch.equal(coloured.x.bytes, grey.x.bytes.expand(1, 3, 5, 5))
    for same in (grey, coloured):
        assert torch.equal(images_like(same, (1, 5, 5)).x.bytes, grey.x.bytes)
    flat = fv.Data(full((2, 3, 10, 10), 77, dtype=uint8), tensor([0, 1]))
    smaller = images_like(flat, (3, 4, 6)).x.bytes
    assert torch.equal(smaller, full((2, 3, 4, 6), 77, dtype=uint8))
    with refused("must be in bytes"):
        images_like(fv.Data(zeros(1, 3, 4, 4), tensor([0])), (3, 4, 4))
    with refused("must have 2 channels"):
        images_like(flat, (2, 4, 4))


def spoil(path):
    path.write_bytes(b"no image")


@mark.parametrize(
    "change, name, text",
    [
        (spoil, "ant/0.png", "each file must be a whole image, got .*ant/0.png"),
        (
            lambda path: write(path, size=(4, 4)),
            "ant/0.png",
            r"images must be of one size, got \(4, 4\) and \(10, 8\) .* give size=",
        ),
        (
            lambda path: write(path, mode="F"),
            "cat/9.tiff",
            r"must have 8 or 16 bits a channel, got float32 in .*9\.tiff",
        ),
        (
            lambda path: Image.fromarray(3 * NARROW).save(path),
            "ant/5.png",
            r"must use them, got values up to 237 in .*ant/5.png",
        ),
        (
            lambda path: path.symlink_to("nowhere.png"),
            "ant/lost.png",
            "must be a whole image, got .*lost.png",
        ),
        (
            lambda path: path.mkdir(),
            "empty",
            "path must hold one folder of images for each class",
        ),
    ],
)
def test_a_bad_folder_is_one_clear_error_that_names_the_file(folder, change, name, text):
    change(folder / name)
    with refused(text):
        image_folder(folder)


def test_a_folder_that_is_not_there_is_named():
    with refused("path must be a folder of class folders, got", FileNotFoundError):
        image_folder("nowhere")


def test_mnist_is_read_from_its_published_format_without_a_download(tmp_path):
    x = np.arange(6 * 28 * 28).astype(np.uint8).reshape(6, 28, 28)
    write_mnist(tmp_path, x, np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8))
    data = public_images("mnist", train=True, root=tmp_path, download=False)
    assert data.x.shape == (6, 1, 28, 28)
    assert torch.equal(data.x.bytes[:, 0], torch.from_numpy(x))
    assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
    few = public_images(
        "mnist",
        train=False,
        root=tmp_path,
        download=False,
        per_class=1,
    )
    assert counts(few) == [1, 1, 1]


def test_a_folder_as_people_have_it_gives_its_pictures_alone(folder):
    """GIFs count, and what notebooks and archives leave behind is passed over."""
    write(folder / "ant" / "5.gif", mode="P", color=7)
    for name in (".ipynb_checkpoints", "__MACOSX", "bee/.ipynb_checkpoints"):
        write(folder / name / "1.png")
    for name in ("._0.png", "Thumbs.db"):
        (folder / "bee" / name).write_bytes(b"no image")
    data = image_folder(folder)
    assert data.class_names == ("ant", "bee", "cat")
    assert counts(data) == [5, 4, 4]


def test_links_are_followed_once_and_pipes_passed_over(folder, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    write(outside / "7.png")
    ant = folder / "ant"
    for name, target in {"more": outside, "loop": ant, "up": folder, "again": "again"}.items():
        (ant / name).symlink_to(target)
    os.mkfifo(ant / "9.png")
    assert counts(image_folder(folder)) == [5, 4, 4]


def test_a_folder_of_more_bytes_than_memory_is_streamed_with_the_same_pixels(folder, monkeypatch):
    held = image_folder(folder)
    monkeypatch.setattr(images, "MEMORY", 2879)  # 12 images of 240 bytes are 2,880
    streamed = image_folder(folder)
    assert "uint8" in repr(held)
    assert "float32, streamed," in repr(streamed)
    assert torch.equal(streamed.x[:], held.x[:])
    assert torch.equal(streamed.y, held.y)
    few = streamed.subset(tensor([7, 2]))
    assert torch.equal(few.x.read(), held.x.bytes[[7, 2]])  # bytes, as in the files
    at_a_worker = pickle.loads(pickle.dumps(streamed))
    assert torch.equal(at_a_worker.x[3], held.x[3])
    spoil(folder / "cat" / "3.png")
    with refused(r"each file must be a whole image, got .*3\.png"):
        streamed.x[:]


def test_sixteen_bits_keep_their_upper_eight_and_few_used_ones_are_said(folder):
    path = folder / "ant" / "6.png"
    full_range = np.full((10, 8), 200 * 256 + 9, dtype=np.uint16)
    Image.fromarray(full_range).save(path)
    assert image_folder(folder).x.bytes[4].unique().tolist() == [200]
    Image.fromarray(50 * NARROW).save(path)  # 12 bits
    with warned("values below 4096, so that it is dark"):
        dark = image_folder(folder)
    assert int(dark.x.bytes[4].max()) == 50 * 79 // 256


def test_pictures_are_turned_as_their_exif_says(folder):
    upright = np.arange(8 * 10 * 3, dtype=np.uint8).reshape(10, 8, 3)
    lying = Image.fromarray(np.rot90(upright).copy())  # by a quarter, as a phone stores it
    exif = Image.Exif()
    exif[0x0112] = 6  # "turn it by a quarter clockwise to see it"
    lying.save(folder / "cat" / "0.png", exif=exif)
    seen = image_folder(folder).x.bytes[8].permute(1, 2, 0)
    assert np.array_equal(seen.numpy(), upright)


def test_a_folder_that_lacks_a_class_is_numbered_by_the_names_of_the_other(folder, tmp_path):
    train = image_folder(folder)
    two = tmp_path / "two"
    two.mkdir()
    for name in ("bee", "cat"):
        (folder / name).rename(two / name)
    test = image_folder(two, classes=train.class_names)
    assert test.y.tolist() == [1] * 4 + [2] * 4
    assert fv.Task(train, train, test, 3).test is test
    shifted = image_folder(two)
    assert shifted.y.tolist() == [0] * 4 + [1] * 4
    with refused(r"number its classes as train, .*, got \('bee', 'cat'\)"):
        fv.Task(train, train, shifted, 3)
    with refused("folders must be of the classes .*, got cat in"):
        image_folder(two, classes=("ant", "bee"))


def test_the_images_of_a_class_are_those_of_the_seed(tmp_path):
    x = np.arange(60 * 28 * 28).astype(np.uint8).reshape(60, 28, 28)
    write_mnist(tmp_path, x, np.repeat([0, 1, 2], 20).astype(np.uint8))

    def chosen(seed):
        how = dict(train=True, root=tmp_path, download=False)
        return public_images("mnist", per_class=5, seed=seed, **how).x.bytes

    assert torch.equal(chosen(0), chosen(0))
    assert not torch.equal(chosen(0), chosen(1))
