# Two images: the server (docker build .) and the worker (docker build --target worker .).
# They run what `make serve` and `make worker` run. docker-compose.yml puts them together.

ARG PYTHON=3.11
# 3.11 is what constraints.txt was made with and what the tests run on.

FROM python:${PYTHON}-slim-trixie AS base
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore \
    PYTHONUNBUFFERED=1
# The uid is fixed so that volumes keep their owner; --no-log-init because a high uid bloats the image otherwise.
RUN groupadd --gid 10001 thiessen \
    && useradd --uid 10001 --gid thiessen --no-log-init \
       --create-home --home-dir /var/lib/thiessen --shell /usr/sbin/nologin thiessen
COPY constraints.txt /usr/local/share/thiessen/
WORKDIR /var/lib/thiessen
LABEL org.opencontainers.image.vendor="The Thiessen developers" \
      org.opencontainers.image.licenses="Apache-2.0"
ENTRYPOINT ["thiessen"]


FROM base AS wheel
WORKDIR /source
RUN pip install --constraint /usr/local/share/thiessen/constraints.txt hatchling
COPY pyproject.toml README.md LICENSE ./
COPY migrations migrations/
COPY optimizers optimizers/
COPY thiessen thiessen/
COPY app app/
COPY worker worker/
# Without isolation the build takes the hatchling above, under constraints.txt, and fetches nothing more.
RUN pip wheel --no-build-isolation --no-deps --wheel-dir /wheel .


FROM base AS worker
# Where torch comes from. The default has builds for the CPU alone, a small fraction of the size.
# For NVIDIA: https://pypi.org/simple, or the index that https://pytorch.org/get-started names for your driver.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# A layer of its own: a change of our code does not install torch again. A build such as 2.13.0+cpu
# outranks PyPI's plain 2.13.0, so the extra index wins.
RUN pip install --constraint /usr/local/share/thiessen/constraints.txt --extra-index-url "${TORCH_INDEX}" torch
RUN --mount=type=bind,from=wheel,source=/wheel,target=/wheel \
    pip install --constraint /usr/local/share/thiessen/constraints.txt "$(echo /wheel/thiessen-*.whl)[worker]"
LABEL org.opencontainers.image.title="thiessen-worker" \
      org.opencontainers.image.description="Trains trials for a Thiessen server"
USER 10001:10001
# No HEALTHCHECK: the daemon is the container's first process and listens nowhere, so it is up while the
# container is.
CMD ["worker"]


FROM base AS server
RUN --mount=type=bind,from=wheel,source=/wheel,target=/wheel \
    pip install --constraint /usr/local/share/thiessen/constraints.txt "$(echo /wheel/thiessen-*.whl)[server]"
LABEL org.opencontainers.image.title="thiessen-server" \
      org.opencontainers.image.description="Hyperparameter search service"
# In a container 127.0.0.1 reaches nobody. On 0.0.0.0 the server wants tokens, unless told THIESSEN_INSECURE=true.
ENV THIESSEN_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000
# http.client and not urllib: a proxy named in the environment has no say about this machine.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, os; server = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('THIESSEN_PORT') or 8000), timeout=4); server.request('GET', '/readyz'); raise SystemExit(server.getresponse().status != 200)"]
CMD ["serve"]
