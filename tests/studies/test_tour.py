"""The preparation of the tour, on the net that a faster SWAG makes diverge."""

from flatviz.studies.tour import prepare


def test_a_young_conv_net_survives_its_swag():
    net, task, prior = prepare("conv", seed=0, epochs=2)  # at fit_swag's own rate of 0.05 this raises
    assert prior.dim == net.dim and len(task.train) == 100
    assert prior.mean.isfinite().all() and prior.log_std.isfinite().all()
