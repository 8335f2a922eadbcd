"""Images from folders, torchvision's sets and data sets of the user's, on small files in the real
formats."""

import numpy as np
import torch
from PIL import Image
from published import write_mnist
from pytest import fixture, raises
from torch import bincount, full, tensor, uint8

import flatviz as fv
from flatviz.datasets import image_folder, images_like, public_images


@fixture
def folder(tmp_path):
    """Three classes of four images, 10 x 8; every pixel of image i of class c is 20 c + i."""
    for c, name in enumerate(("ant", "bee", "cat")):
        (tmp_path / name).mkdir()
        for i in range(4):
            Image.new("RGB", (8, 10), (20 * c + i,) * 3).save(tmp_path / name / f"{i}.png")
    return tmp_path


def test_a_folder_of_class_folders_keeps_pixels_and_numbers_classes_by_name(folder):
    data = image_folder(folder)
    assert data.x.shape == (12, 3, 10, 8)
    assert data.y.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert torch.allclose(data.x[5], full((3, 10, 8), 21 / 255))
    few = image_folder(folder, per_class=2, seed=3, size=6)
    assert few.x.shape == (6, 3, 6, 6)
    assert bincount(few.y).tolist() == [2, 2, 2]


def test_images_of_another_set_take_the_shape_of_the_first():
    grey = fv.Data(torch.arange(0, 250, 10, dtype=uint8).view(1, 1, 5, 5), tensor([0]))
    coloured = images_like(grey, (3, 5, 5))
    assert torch.equal(coloured.x.bytes, grey.x.bytes.expand(1, 3, 5, 5))
    for same in (grey, coloured):
        assert torch.equal(images_like(same, (1, 5, 5)).x.bytes, grey.x.bytes)
    flat = fv.Data(full((2, 3, 10, 10), 77, dtype=uint8), tensor([0, 1]))
    assert torch.equal(images_like(flat, (3, 4, 6)).x.bytes, full((2, 3, 4, 6), 77, dtype=uint8))
    with raises(ValueError, match="must be in bytes"):
        images_like(fv.Data(torch.zeros(1, 3, 4, 4), tensor([0])), (3, 4, 4))
    with raises(ValueError, match="must have 2 channels"):
        images_like(flat, (2, 4, 4))


def test_a_bad_folder_is_one_clear_error_that_names_the_file(folder):
    with raises(FileNotFoundError, match="path must be a folder of class folders, got"):
        image_folder(folder / "nowhere")
    (folder / "ant" / "0.png").write_bytes(b"no image")
    with raises(ValueError, match="each file must be a whole image, got .*ant/0.png"):
        image_folder(folder)
    Image.new("RGB", (4, 4)).save(folder / "ant" / "0.png")
    with raises(
        ValueError, match=r"images must be of one size, got \(4, 4\) and \(10, 8\) .* give size="
    ):
        image_folder(folder)
    (folder / "empty").mkdir()
    with raises(ValueError, match="path must hold one folder of images for each class"):
        image_folder(folder)


def test_mnist_is_read_from_its_published_format_without_a_download(tmp_path):
    x = np.arange(6 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(6, 28, 28)
    write_mnist(tmp_path, x, np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8))
    data, few = (
        public_images("mnist", train=n is None, root=tmp_path, download=False, per_class=n)
        for n in (None, 1)
    )
    assert data.x.shape == (6, 1, 28, 28)
    assert torch.equal((data.x[:, 0] * 255).round().byte(), torch.from_numpy(x))
    assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
    assert sorted(few.y.tolist()) == [0, 1, 2]


def test_a_folder_as_people_have_it_gives_its_pictures_alone(folder):
    """GIFs count, and what notebooks and archives leave behind is passed over."""
    Image.new("P", (8, 10), 7).save(folder / "ant" / "5.gif")
    for name in (".ipynb_checkpoints", "__MACOSX"):
        (folder / name).mkdir()
        Image.new("RGB", (8, 10)).save(folder / name / "1.png")
    (folder / "bee" / ".ipynb_checkpoints").mkdir()
    Image.new("RGB", (8, 10)).save(folder / "bee" / ".ipynb_checkpoints" / "0-checkpoint.png")
    (
        (folder / "bee" / "._0.png").write_bytes(b"resource fork"),
        (folder / "bee" / "Thumbs.db").write_bytes(b""),
    )
    data = image_folder(folder)
    assert data.class_names == ("ant", "bee", "cat")
    assert bincount(data.y).tolist() == [
        5,
        4,
        4,
    ]
    Image.fromarray(np.full((10, 8), 51209, dtype=np.uint16)).save(folder / "cat" / "9.png")
    with raises(ValueError, match=r"images must have 8 bits a channel, got mode I;16 in .*9\.png"):
        image_folder(folder)


def test_links_are_followed_and_pictures_turned_as_their_exif_says(folder):
    outside = folder.parent / "outside"
    outside.mkdir()
    Image.new("RGB", (8, 10)).save(outside / "7.png")
    (folder / "ant" / "more").symlink_to(outside)
    upright = np.arange(8 * 10 * 3, dtype=np.uint8).reshape(10, 8, 3)
    lying = Image.fromarray(np.rot90(upright).copy())  # by a quarter, as a phone stores it
    exif = Image.Exif()
    exif[0x0112] = 6  # "turn it by a quarter clockwise to see it"
    lying.save(folder / "cat" / "0.png", exif=exif)
    data = image_folder(folder)
    assert bincount(data.y).tolist() == [5, 4, 4]
    assert np.array_equal(data.x.bytes[9].permute(1, 2, 0).numpy(), upright)
    (folder / "ant" / "lost.png").symlink_to(folder / "nowhere.png")
    with raises(ValueError, match="must be a whole image, got .*lost.png"):
        image_folder(folder)


def test_a_folder_that_lacks_a_class_is_numbered_by_the_names_of_the_other(folder):
    train = image_folder(folder)
    two = folder / "two"
    two.mkdir()
    for name in ("bee", "cat"):
        (folder / name).rename(two / name)
    shifted = image_folder(two)
    test = image_folder(two, classes=train.class_names)
    assert shifted.y.tolist() == [0] * 4 + [1] * 4
    assert test.y.tolist() == [1] * 4 + [2] * 4
    assert fv.Task(train, train, test, 3).test is test
    with raises(
        ValueError,
        match=r"number its classes as train, \('ant', 'bee', 'cat'\), got \('bee', 'cat'\)",
    ):
        fv.Task(train, train, shifted, 3)
    with raises(ValueError, match="folders must be of the classes .*, got cat in"):
        image_folder(two, classes=("ant", "bee"))
