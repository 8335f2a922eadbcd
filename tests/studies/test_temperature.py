"""Which posterior to approximate: the study's figures are those of direct fits, and the committed table backs the default."""

import pytest

import flatviz as fv
from flatviz.cli import temperature as command
from flatviz.studies import temperature as study


def test_the_study_measures_what_a_direct_fit_gives(transferred, task, monkeypatch, tmp_path):
    net, prior = transferred
    monkeypatch.setattr(study, "prepare", lambda model, seed, epochs: (net, task, prior))
    monkeypatch.setattr(study, "CHAINS", dict(n_draws=8, chains=2, burn_in=4))
    monkeypatch.setenv("FLATVIZ_CACHE", str(tmp_path))
    chosen = study.DEFAULT._replace(head_std=0.5)
    published = study.ALTERNATIVES[1]
    result = study.measure_temperatures([3], alternatives=[chosen, published])
    values = dict(zip(study.QUANTITIES, result.values[chosen, "SA-BMA"][0].tolist()))
    wide = study.with_head_std(net, prior, 0.5)
    q = fv.fit_sabma(net, task.train, wide, radius=study.RADIUS, seed=3, **fv.METHODS["sabma"].plain.settings)
    scores = fv.predict(net, q, task.test, 30, seed=4).scores
    assert values["nll"] == pytest.approx(float(scores["nll"][-1]), rel=1e-5)
    assert values["nll of one draw"] == pytest.approx(float(scores["nll"][0]), rel=1e-5)
    assert values["kl"] == pytest.approx(float(q.history.kl[-1]), rel=1e-5)
    assert bool(result.values[published, "HMC"].isnan().all())  # T = 0 has no posterior
    assert "T 0.03" in str(command.rows(result)[0]["posterior"])
