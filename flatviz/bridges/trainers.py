"""`record_path` as a callback of Lightning and Hugging Face trainers."""

from contextlib import suppress
from importlib import import_module
from typing import Any

from torch import nn

from flatviz.core import public
from flatviz.training.recording import record_path


def _class_of(name: str, *packages: str) -> object:
    """Return the class to derive a callback from, of the first package that is installed."""
    for package in packages:
        with suppress(ImportError):  # each is optional
            return getattr(import_module(package), name)
    trainer = packages[0].partition(".")[0]
    raise ImportError(f'a callback for {trainer} needs it: pip install "{trainer}"')


@public
def lightning_callback(**how: Any) -> object:
    """Build a callback for Lightning that records path and curvature: `callback.path`.

    Pass it as `Trainer(callbacks=[callback])`.

    Args:
        **how: Keywords of `record_path`.  `log` is the trainer's logger by default.

    Raises:
        ImportError: Without `lightning` or `pytorch_lightning`.

    Example:
        >>> how = dict(data=fv.Data(torch.ones(4, 3), torch.arange(4) % 2), every=10)
        >>> callback = fv.bridges.lightning_callback(**how)  # doctest: +SKIP
        >>> trainer = lightning.Trainer(callbacks=[callback])  # doctest: +SKIP
        >>> trainer.fit(module, loader)  # doctest: +SKIP
        >>> fv.plot(callback.path.history)  # doctest: +SKIP
    """
    Callback: Any = _class_of("Callback", "lightning.pytorch", "pytorch_lightning")

    class FlatnessCallback(Callback):
        def on_train_start(self, trainer: Any, pl_module: nn.Module) -> None:
            logger = trainer.logger

            def log(name: str, value: float, step: int) -> None:
                logger.log_metrics({name: value}, step=step)

            default = {"log": log} if logger else {}
            self.path = record_path(pl_module, **(default | how)).__enter__()

        def on_train_end(self, trainer: object, pl_module: nn.Module) -> None:
            self.path.__exit__(None, None, None)

        def on_exception(
            self, trainer: object, pl_module: nn.Module, exception: BaseException
        ) -> None:
            self.path.__exit__(type(exception), exception, None)

    return FlatnessCallback()


@public
def huggingface_callback(**how: Any) -> object:
    """Build a callback for Hugging Face that records path and curvature: `callback.path`.

    Pass it as `transformers.Trainer(callbacks=[callback])`.

    Args:
        **how: Keywords of `record_path`.  `log` writes into `trainer.state.log_history` by default.

    Raises:
        ImportError: Without `transformers`.

    Example:
        >>> how = dict(data=fv.Data(torch.ones(4, 3), torch.arange(4) % 2), every=10)
        >>> callback = fv.bridges.huggingface_callback(**how)  # doctest: +SKIP
        >>> trainer = transformers.Trainer(model, args, callbacks=[callback])  # doctest: +SKIP
        >>> trainer.train()  # doctest: +SKIP
        >>> fv.plot(callback.path.history)  # doctest: +SKIP
    """
    TrainerCallback: Any = _class_of("TrainerCallback", "transformers")

    class FlatnessCallback(TrainerCallback):
        def on_train_begin(
            self,
            args: object,
            state: Any,
            control: object,
            model: nn.Module,
            **about: object,
        ) -> None:
            def log(name: str, value: float, step: int) -> None:
                state.log_history.append({name: value, "step": step})

            self.path = record_path(model, **{"log": log, **how}).__enter__()

        def on_train_end(
            self, args: object, state: object, control: object, **about: object
        ) -> None:
            self.path.__exit__(None, None, None)

    return FlatnessCallback()
