#!/usr/bin/env bash
# A Slurm cluster of this one machine on loopback, with a GPU that does not exist, for tests.
# Usage, as root: tests/slurm/cluster.sh start | stop
# Needs the Debian packages slurm-wlm and munge. `stop` ends what `start` began and takes the
# configuration away again: one left in /etc/slurm without a controller delays every sbatch.
# What a killed run of the tests left is recognised by its first line, and `start` clears it away.
set -euo pipefail

state=/run/slurm-for-tests
conf=/etc/slurm
mark="# Written by tests/slurm/cluster.sh, which removes it."
node=$(hostname -s)
patience=30 # seconds that a daemon may take to start or stop

fail() {
    echo "cluster.sh: $1" >&2
    exit 1
}

# until_true COMMAND...: wait for a condition, not for a time.
until_true() {
    local deadline=$((SECONDS + patience))
    until "$@" > /dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.1
    done
}

configure() {
    cat > "$conf/slurm.conf" << END
$mark
ClusterName=tests
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$state/munge.socket
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/node
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmctldLogFile=$state/slurmctld.log
SlurmdLogFile=$state/slurmd.log
# What a container allows: no cgroups, no binding, no accounting database.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
# squeue must still know finished jobs when Snakemake asks for them.
MinJobAge=600
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
# Cores and memory are counted: a request that is too large waits, as on a real cluster.
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
# Two cores whatever there are, so that the tests mean the same everywhere.
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=$(awk '/MemTotal/ {print int($2 / 1024)}' /proc/meminfo) Gres=gpu:fake:1 State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
PartitionName=accelerated Nodes=$node MaxTime=INFINITE State=UP
END
    echo "NodeName=$node Name=gpu Type=fake File=/dev/null" > "$conf/gres.conf"
}

idle() { sinfo --noheader --format=%T | grep -qx idle; }

ours() { [ "$(head -n 1 "$conf/slurm.conf" 2> /dev/null)" = "$mark" ]; }

# alive DAEMON: whether the daemon whose id `start` wrote down still runs. One that has ended and
# for which nobody waited keeps its name, but no command line.
alive() {
    pid=$(cat "$state/$1.pid" 2> /dev/null) || return 1
    [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = "$1" ] && [ "$(wc -c < "/proc/$pid/cmdline")" -gt 0 ]
}

start() {
    [ "$(id -u)" = 0 ] || fail "must run as root"
    for command in munged slurmctld slurmd sinfo; do
        command -v "$command" > /dev/null || fail "$command is missing: apt-get install slurm-wlm munge"
    done
    ! alive slurmctld || fail "a cluster for tests runs already; end it with: $0 stop"
    [ ! -e "$conf/slurm.conf" ] || ours || fail "$conf/slurm.conf exists; not touching what is yours"
    stop
    mkdir -p "$conf" "$state/controller" "$state/node"
    (umask 077 && head -c 1024 /dev/urandom > "$state/munge.key")
    configure
    # Daemons close what they inherit, or whoever reads our output waits for them to end.
    munged --key-file="$state/munge.key" --socket="$state/munge.socket" --num-threads=2 \
        --pid-file="$state/munged.pid" --log-file="$state/munged.log" \
        --seed-file="$state/munge.seed" > "$state/start.log" 2>&1 < /dev/null
    slurmctld -c >> "$state/start.log" 2>&1 < /dev/null
    slurmd -c >> "$state/start.log" 2>&1 < /dev/null
    if ! until_true idle; then
        cat "$state"/*.log >&2
        stop
        fail "the node did not come up within $patience s"
    fi
    echo "Slurm is up: $(sinfo --noheader --format='%P %D node, %c cores, %m MB, %G' | paste -sd';')"
}

ended() { ! alive "$1"; }

stop() {
    if alive slurmctld; then
        timeout 5 scancel --user=root 2> /dev/null || true
    fi
    # By the ids that the daemons wrote down, in the order in which they need each other.
    for daemon in slurmd slurmctld munged; do
        alive "$daemon" || continue
        kill "$pid"
        until_true ended "$daemon" || kill -KILL "$pid" || true
    done
    if ours; then
        rm -f "$conf/slurm.conf" "$conf/gres.conf"
        rmdir "$conf" 2> /dev/null || true
    fi
    rm -rf "$state"
}

case ${1:-} in
    start) start ;;
    stop) stop ;;
    *) fail "usage: $0 start | stop" ;;
esac
