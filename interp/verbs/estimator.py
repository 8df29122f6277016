"""`interp estimator`: estimates over gRPC, with the flags of karmada-scheduler-estimator, for one cluster or many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_File = click.Path(path_type=Path)
_WITHOUT_EFFECT = ("--secure-port", "--profiling-bind-address", "--enable-pprof")


@click.command("estimator", short_help="serve estimates over gRPC to karmada-scheduler")
@click.option("--cluster-name", default="", metavar="NAME", help="The member cluster to serve, by --kubeconfig.")
@click.option("--kubeconfig", type=_File, metavar="F", help="Its kubeconfig; without one, the pod's service account.")
@click.option("--context", default="", metavar="C", help="A context of it other than the current one.")
@click.option("--master", default="", metavar="URL", help="Its API server's address, instead of the kubeconfig's.")
@click.option(
    "--cluster", "clusters", multiple=True, metavar="NAME=KUBECONFIG[#CONTEXT]|DIR",
    help="One more cluster: live by its kubeconfig, or from files that kubectl printed. Any number of them.",
)  # fmt: skip
@click.option("--server-port", default=10352, show_default=True, metavar="N", help="The gRPC port.")
@click.option(
    "--bind-address", "--grpc-bind-address", "bind_address", default="", metavar="IP",
    help="Its address, such as 0.0.0.0. Without one: all of them with TLS, the loopback in plain text.",
)  # fmt: skip
@click.option("--reflection", is_flag=True, help="Let clients such as grpcurl list services and messages.")
@click.option("--grpc-auth-cert-file", "cert_file", type=_File, metavar="F", help="TLS certificate of the gRPC port.")
@click.option("--grpc-auth-key-file", "key_file", type=_File, metavar="F", help="The certificate's key.")
@click.option("--grpc-client-ca-file", "client_ca_file", type=_File, metavar="F",
              help="Ask clients for certificates of this authority.")  # fmt: skip
@click.option("--insecure-skip-grpc-client-verify", "skip_client_verify", type=bool, is_flag=False, flag_value=True,
              default=False, metavar="[BOOL]", help="Do not ask clients for certificates after all.")  # fmt: skip
@click.option("--metrics-bind-address", "metrics_address", default=":8080", show_default=True, metavar="ADDR",
              help="Where to serve /metrics; 0 for nowhere.")  # fmt: skip
@click.option("--health-probe-bind-address", "probe_address", default=":10351", show_default=True, metavar="ADDR",
              help="Where to serve /healthz and /readyz; 0 for nowhere.")  # fmt: skip
@click.option("--feature-gates", default="", metavar="NAME=BOOL,...",
              help="ResourceQuotaEstimate is on unless set to false; other gates mean nothing here.")  # fmt: skip
@click.option("--parallelism", default=16, show_default=True, metavar="N",
              help="The most estimates at once; never more than there are cores.")  # fmt: skip
@click.option(
    "--kube-api-qps", default=20.0, show_default=True, metavar="N", help="Requests a second to an API server."
)
@click.option("--kube-api-burst", default=30, show_default=True, metavar="N", help="Requests at once to it.")
@click.option("--lost-after", default=60.0, show_default=True, metavar="S",
              help="Seconds without contact after which a cluster is answered with -1.")  # fmt: skip
@click.option("--grace", "grace_seconds", default=10.0, show_default=True, metavar="S",
              help="Seconds that requests under way get to finish when the server stops.")  # fmt: skip
@click.option("--logging-format", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How log lines look.")  # fmt: skip
@click.option("-v", "--v", "verbosity", default=0, metavar="N", help="2 logs every request, 4 everything.")
@click.option("--secure-port", hidden=True)
@click.option("--profiling-bind-address", hidden=True)
@click.option("--enable-pprof", is_flag=False, flag_value="true", hidden=True)
def command(logging_format: str, verbosity: int, **settings: Any) -> None:
    """Answer karmada-scheduler over gRPC, in the place of karmada-scheduler-estimator.

    A cluster that is being read or lost is answered with -1 (no opinion), so that the others keep their answers.

    \b
    interp estimator --cluster-name member1 --kubeconfig member1.kubeconfig
    interp estimator --cluster east=east.kubeconfig --cluster lab=snapshots/lab/
    """
    import asyncio
    import logging

    from estimator.service.server import serve
    from estimator.service.settings import Settings
    from webhook.server.logs import WRITER

    _log(logging_format, verbosity)
    for flag in _WITHOUT_EFFECT:
        if settings.pop(flag.strip("-").replace("-", "_")) is not None:
            logging.getLogger("estimator").warning("%s has no effect here; it is taken so that manifests fit", flag)
    try:
        asyncio.run(serve(Settings(**settings)))
    finally:
        WRITER.close()


def _log(form: str, verbosity: int) -> None:
    import logging

    from webhook.server.logs import JsonFormatter, TextFormatter, WriterHandler

    handler = WriterHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("estimator").setLevel(logging.DEBUG if verbosity >= 4 else logging.INFO)
    if verbosity < 2:
        logging.getLogger("estimator.service.servicers").setLevel(logging.WARNING)
