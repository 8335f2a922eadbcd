"""Every fit gives the numbers that are stored of it, by whatever words it is called."""

from golden.fits import CASES, machine, numbers_of, plain, stored
from pytest import mark
from torch.testing import assert_close

# Another processor or torch adds in another order: a rounding of float32, 1e-7 of a number, grows
# in these few steps.  Without AVX and with MKL's oldest code nothing was off by a third of this.
ELSEWHERE = dict(rtol=1e-4, atol=1e-5)
# But what hangs on the roundings: lengths of HMC's steps, the bare inverse of a curvature
SENSITIVE = ("hmc", "fewer", "laplace-none")
ROUGHLY = dict(rtol=5e-3, atol=5e-4)


def test_the_file_holds_every_case_and_no_other():
    assert set(stored()[1]) == set(CASES)


@mark.parametrize("name", CASES)
def test_a_fit_gives_its_stored_numbers(name):
    origin, numbers, notes = stored()
    same = origin == machine()
    found, said = numbers_of(name)
    how = ROUGHLY if any(word in name for word in SENSITIVE) else ELSEWHERE
    if same:
        how = dict(rtol=0, atol=0)
    assert_close(plain(found), numbers[name], **how, equal_nan=True)
    written = notes.get(name, ())
    assert said == written if same else len(said) == len(written)
