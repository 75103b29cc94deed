# The environment of envs/cpu.lock (or cuda.lock) and this package, for a user who is not root:
#   docker build -t private-ensembles .
#   docker build -t private-ensembles:cuda --build-arg LOCK=cuda .
# Run it on a folder of yours, where results appear:
#   docker run --rm -v "$PWD":/work private-ensembles snakemake -s /opt/private-ensembles/Snakefile --cores all
FROM python:3.11-slim

ARG LOCK=cpu
# pip reads it: where torch's CPU build is. The hashes keep all other files from being taken there.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu

# LightGBM's wheel does not bring OpenMP along; git tells each result's revision, and fetches
# workflows that a Snakefile names by github(...).
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git libgomp1 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/private-ensembles
COPY envs/ envs/
RUN pip install --no-cache-dir --require-hashes --requirement "envs/${LOCK}.lock"

COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --uid 1000 --create-home researcher && install -d -o researcher /work
USER researcher
WORKDIR /work
# Git answers nobody but the owner of a repository, who is root here, unless it is told to.
# With --user the home cannot be written, where Snakemake and Matplotlib keep what they make again.
ENV HOME=/home/researcher \
    XDG_CACHE_HOME=/tmp/cache \
    MPLCONFIGDIR=/tmp/cache/matplotlib \
    GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0=safe.directory \
    GIT_CONFIG_VALUE_0=/opt/private-ensembles
CMD ["private-ensembles", "--help"]
