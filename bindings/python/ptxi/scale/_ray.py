"""An executor of PEP 3148 that runs tasks on Ray."""
import concurrent.futures
from typing import Any, Callable, Dict

from ._work import ScaleError


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run a task in a worker of Ray."""
    return function(*args, **kwargs)


class RayExecutor(concurrent.futures.Executor):
    """Runs tasks on Ray, which is started on this machine if the program has not connected it to a cluster.

    `options`  of `ray.remote`, such as `num_cpus=1` or `runtime_env={...}`

    Ray repeats the tasks of a worker that was killed. `shutdown` leaves Ray running. Raises ImportError without the
    package `ray`.
    """

    def __init__(self, **options: Any) -> None:
        import ray  # type: ignore[import-not-found,unused-ignore]
        self._ray = ray
        if not ray.is_initialized():
            ray.init(log_to_driver=False, include_dashboard=False)
        options = {'num_cpus': 1, 'max_retries': 10, **options}
        self._max_workers = max(1, int(ray.cluster_resources().get('CPU', 1) / (options['num_cpus'] or 1)))
        self._task = ray.remote(**options)(_call)
        self._references: Dict[Any, Any] = {}  # by future
        self._open = True

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> 'concurrent.futures.Future[Any]':
        """Send a task to Ray."""
        if not self._open:
            raise RuntimeError('the executor has been shut down')
        future: 'concurrent.futures.Future[Any]' = concurrent.futures.Future()
        reference = self._task.remote(fn, args, kwargs)
        future.set_running_or_notify_cancel()
        self._references[future] = reference
        reference.future().add_done_callback(lambda done: self._finish(future, done))
        return future

    def _finish(self, future: Any, done: Any) -> None:
        """Give the result of a task to the program, with the exception that the task raised."""
        self._references.pop(future, None)
        failure = done.exception()
        if failure is None:
            future.set_result(done.result())
        elif isinstance(failure, self._ray.exceptions.RayTaskError):
            future.set_exception(failure.cause if isinstance(failure.cause, Exception) else failure)
        else:
            lost = ScaleError(f'a process of Ray has ended: {failure}')
            lost.__cause__ = failure
            future.set_exception(lost)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more tasks. Cancel those that have not ended, or wait for them."""
        self._open = False
        left = list(self._references.items())
        if cancel_futures:
            for _, reference in left:
                self._ray.cancel(reference)
        if wait:
            concurrent.futures.wait([future for future, _ in left])
