"""`record_path` as a callback of other people's trainers: Lightning's, and that of Hugging Face."""

from typing import Any

from torch import nn

from flatviz.core import public
from flatviz.training.recording import RecordedPath, record_path

MISSING = 'a callback for {name} needs it: pip install "{name}"'


@public
def lightning_callback(**how: Any) -> Any:
    """Build a callback for Lightning's `Trainer(callbacks=[...])` that records the path and curvature of its training: `callback.path`.

    Args:
        **how: Keywords of `record_path`.  `log` is the trainer's logger by default.

    Raises:
        ImportError: Without `lightning` or `pytorch_lightning`.

    Example:
        >>> how = dict(data=fv.Data(torch.ones(4, 3), torch.arange(4) % 2), every=10)
        >>> callback = fv.bridges.lightning_callback(**how)  # doctest: +SKIP
        >>> lightning.Trainer(max_epochs=3, callbacks=[callback]).fit(module, loader)  # doctest: +SKIP
        >>> fv.plot(callback.path.history)  # doctest: +SKIP
    """
    try:
        from lightning.pytorch import Callback  # optional
    except ImportError:
        try:
            from pytorch_lightning import Callback
        except ImportError as error:
            raise ImportError(MISSING.format(name="lightning")) from error

    class FlatnessCallback(Callback):
        path: RecordedPath

        def on_train_start(self, trainer: Any, pl_module: nn.Module) -> None:
            logger = trainer.logger
            log = (lambda name, value, step: logger.log_metrics({name: value}, step=step)) if logger else None
            self.path = record_path(pl_module, **{"log": log, **how}).__enter__()

        def on_train_end(self, trainer: Any, pl_module: nn.Module) -> None:
            self.path.__exit__(None, None, None)

        def on_exception(self, trainer: Any, pl_module: nn.Module, exception: BaseException) -> None:
            self.path.__exit__(type(exception), exception, None)

    return FlatnessCallback()


@public
def huggingface_callback(**how: Any) -> Any:
    """Build a callback for `transformers.Trainer(callbacks=[...])` that records the path and curvature of its training: `callback.path`.

    Args:
        **how: Keywords of `record_path`.  `log` writes into `trainer.state.log_history` by default.

    Raises:
        ImportError: Without `transformers`.

    Example:
        >>> how = dict(data=fv.Data(torch.ones(4, 3), torch.arange(4) % 2), every=10)
        >>> callback = fv.bridges.huggingface_callback(**how)  # doctest: +SKIP
        >>> transformers.Trainer(model, args, train_dataset=rows, callbacks=[callback]).train()  # doctest: +SKIP
        >>> fv.plot(callback.path.history)  # doctest: +SKIP
    """
    try:
        from transformers import TrainerCallback  # optional
    except ImportError as error:
        raise ImportError(MISSING.format(name="transformers")) from error

    class FlatnessCallback(TrainerCallback):
        path: RecordedPath

        def on_train_begin(self, args: Any, state: Any, control: Any, model: nn.Module, **about: Any) -> None:
            log = lambda name, value, step: state.log_history.append({name: value, "step": step})  # noqa: E731
            self.path = record_path(model, **{"log": log, **how}).__enter__()

        def on_train_end(self, args: Any, state: Any, control: Any, **about: Any) -> None:
            self.path.__exit__(None, None, None)

    return FlatnessCallback()
