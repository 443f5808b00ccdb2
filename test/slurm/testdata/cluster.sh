#!/bin/sh
# cluster.sh DIR NODES BIN: Slurm on hosts ctl, node1, node2, … of this machine, until its input ends. It is process 1 of namespaces of its own
# (see cluster.go); a node has more of them: its own network, name, processes, /tmp and /dev/shm. DIR is a folder for the daemons' files.
#   DIR/on NODE COMMAND...   runs a command on a node, beside Slurm
#   DIR/off NODE             ends all that is on a node, and its memory with it; DIR/up NODE starts it
set -eu
dir=$1 nodes=$2 bin=$3 net=10.55.0
mkdir "$dir/etc" "$dir/state" "$dir/bin"

hostname ctl
mount -t tmpfs -o size=1g tmpfs /dev/shm
mount -t tmpfs tmpfs /run
ip link set lo up
ip link add bridge type bridge
ip addr add $net.100/24 dev bridge
ip link set bridge up

# Nodes claim more processors than there are, as most ranks of the tests sleep.
cat >"$dir/etc/slurm.conf" <<-S
	ClusterName=spoor
	SlurmctldHost=ctl($net.100)
	SlurmUser=root
	AuthInfo=socket=$dir/munge.socket
	StateSaveLocation=$dir/state
	SlurmdSpoolDir=$dir/spool-%n
	SlurmctldPidFile=$dir/ctl.pid
	SlurmdPidFile=$dir/%n.pid
	SlurmctldLogFile=$dir/ctl.log
	SlurmdLogFile=$dir/%n.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core
	SlurmdParameters=config_overrides
	ReturnToService=2
	KillWait=5
	InactiveLimit=5
	NodeName=node[1-$nodes] NodeAddr=$net.[1-$nodes] CPUs=64 RealMemory=4000 State=UNKNOWN
	PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE
S
{
	printf '127.0.0.1 localhost\n%s.100 ctl\n' $net
	for i in $(seq "$nodes"); do echo "$net.$i node$i"; done
} >"$dir/hosts"
mount --bind "$dir/etc" /etc/slurm
mount --bind "$dir/hosts" /etc/hosts
mount --bind -o ro "$bin" "$dir/bin"

cat >"$dir/node" <<-S
	mount -t tmpfs -o size=1g tmpfs /dev/shm && mount -t tmpfs tmpfs /tmp && cd / || exit
	if [ ! -d "$bin" ]; then # it is below /tmp
		mkdir -p "$bin" && mount --bind "$dir/bin" "$bin" || exit
	fi
	hostname "\$1" && slurmd -N "\$1" || exit
	while :; do sleep 1000 & wait; done
S
cat >"$dir/up" <<-S
	#!/bin/sh
	ip netns add "\$1"
	ip link add "\$1" type veth peer name eth0 address "02:00:00:00:00:0\${1#node}" netns "\$1" # the same when it is back
	ip link set "\$1" master bridge up
	ip -n "\$1" link set lo up
	ip -n "\$1" addr add "$net.\${1#node}/24" dev eth0
	ip -n "\$1" link set eth0 up
	nsenter --net="/run/netns/\$1" unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc sh "$dir/node" "\$1" </dev/null >"$dir/\$1.out" 2>&1 &
	echo \$! >"$dir/\$1.init"
S
cat >"$dir/off" <<-S
	#!/bin/sh
	ip link del "\$1"
	kill -9 "\$(cat "$dir/\$1.init")"
	ip netns del "\$1"
S
cat >"$dir/on" <<-S
	#!/bin/sh
	init=\$(cat "$dir/\$1.init")
	shift
	exec nsenter -t \$(cat /proc/\$init/task/\$init/children) -m -u -n -i -p "\$@"
S
chmod +x "$dir/up" "$dir/off" "$dir/on"

(umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
munged --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munge.pid" --log-file="$dir/munge.log" \
	--seed-file="$dir/munge.seed"
slurmctld
for i in $(seq "$nodes"); do "$dir/up" "node$i"; done
for try in $(seq 100); do
	[ "$(sinfo -h -N -o %T | grep -c idle)" != "$nodes" ] || break
	[ "$try" != 100 ] || { sinfo -N -l; tail -n 5 "$dir"/*.log "$dir"/*.out; exit 1; } >&2
	sleep 0.2
done
echo ready
exec 1>&2 # who waits for that line waits for no more
cat >/dev/null
