# SPDX-License-Identifier: Apache-2.0
# What the suites of the command line share; sourced with PAWL SOURCE_ROOT as arguments. They run the
# built program as a user would, in a scratch folder, and speak TAP.
#
#     t NAME EXIT ARGS...     runs "$pawl ARGS" in a scratch folder, with $stdin as its input
#     out TEXT, err TEXT      what must have been written, to the byte (a final newline is added)
#     out_has, err_has TEXT   what must be somewhere in it;  out_lacks, err_lacks: must not be
#     out_passes COMMAND...   a command that reads standard output and must succeed
#     shell NAME EXIT COMMAND...   like t, for what is not one run of the program
#
# Checks belong to the last t; a case is "ok" when all of them hold.
# shellcheck shell=bash
set -u
export LC_ALL=C TERM=xterm
unset NO_COLOR "${!PAWL_@}"

pawl=$(realpath "$1")
root=$(realpath "$2")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
count=0 name='' problems='' stdin=/dev/null

report()
{
    [[ $name ]] || return 0
    count=$((count + 1))
    if [[ $problems ]]; then
        echo "not ok $count - $name"
        printf '%s\n' "$problems" | sed 's/^/# /'
    else
        echo "ok $count - $name"
    fi
}

problem() { problems+="$1"$'\n'; }

shell()
{
    report
    name=$1 problems=''
    "${@:3}" >out 2>err <"$stdin"
    local code=$?
    [[ $code == "$2" ]] || problem "exit code $code, expected $2"$'\n'"$(head -5 err)"
}
t() { shell "$1" "$2" "$pawl" "${@:3}"; }

same()
{
    printf '%s' "${2:+$2$'\n'}" >expected
    cmp -s "$1" expected || problem "$1 differs:"$'\n'"$(diff expected "$1")"
}
out() { same out "$1"; }
err() { same err "$1"; }
has() { grep -qF -- "$2" "$1" || problem "$1 has no '$2':"$'\n'"$(cat "$1")"; }
lacks() { ! grep -qF -- "$2" "$1" || problem "$1 has '$2':"$'\n'"$(cat "$1")"; }
out_has() { has out "$1"; }
err_has() { has err "$1"; }
out_lacks() { lacks out "$1"; }
err_lacks() { lacks err "$1"; }
out_passes() { "$@" <out >passes 2>&1 || problem "$1 does not accept it:"$'\n'"$(cat passes)"; }

# Waits until a command succeeds; only a hang exceeds the minute.
await()
{
    local end=$((SECONDS + 60))
    until "$@" 2>/dev/null; do
        ((SECONDS < end)) || { problem "waited in vain for: $*"; return 1; }
        sleep 0.02
    done
}

finish()
{
    report
    name=''
    echo "1..$count"
}
