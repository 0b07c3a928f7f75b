#!/usr/bin/env bash
#
# Checks everything that can be checked on one machine.
#
#   ./ci.sh          all of it, on Linux. As root on Debian or Ubuntu, missing packages are
#                    installed and nothing may be skipped; elsewhere they are named.
#   ./ci.sh --fast   what needs no privilege and no peer: format, lints, documentation, unit tests
#   ./ci.sh --list   the steps, and what each one shows
#
# CI_TARGET_DIR puts build results elsewhere than in target/. Exit codes: 0 all steps passed,
# 1 a step failed, 2 the machine lacks something or the arguments are wrong.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
exec </dev/null

# --- what is checked -----------------------------------------------------------------------------

fast_steps=(toolchain format lints docs unit-tests)
full_steps=(toolchain host format lints features no-std docs shell tests lab-tests demonstration)

declare -A shows=(
    [toolchain]="Rust is new enough, with rustfmt and clippy"
    [host]="the peers and tools that the lab needs are there (installed if root on Debian)"
    [format]="cargo fmt changes nothing"
    [lints]="clippy has nothing to say about any target, with all features"
    [features]="each published crate builds without warnings with no feature and with each one alone"
    [no-std]="vrrp-core runs an election in a program without the standard library"
    [docs]="the documentation has no broken link and no warning, private items included"
    [shell]="shellcheck has nothing to say about any shell script"
    [unit-tests]="unit tests, and all tests of vrrp-core, pass"
    [tests]="tests and documentation examples of all crates but the lab's pass; none is ignored"
    [lab-tests]="promises hold on the lab: real processes, real kernels, captured packets"
    [demonstration]="examples/failover tells its story within 60 s, alone and beside keepalived and FRR"
)

# Crates whose tests build networks: two at a time, so that timing means something.
lab_crates=(-p lab -p promises)

published_crates=(vrrp-core vrrp-net vipd)

# Command and the Debian packages that bring it.
host_needs=(
    "git git"
    "cc gcc libc6-dev"
    "ip iproute2"
    "nft nftables"
    "tcpdump tcpdump"
    "ping iputils-ping"
    "unshare util-linux"
    "newuidmap uidmap"
    "keepalived keepalived"
    "vrrpd frr"
    "shellcheck shellcheck"
)

# --- the steps -----------------------------------------------------------------------------------

step_toolchain() {
    local wanted have
    have_command cargo || lacking "cargo. Install Rust, for example with rustup: stable is enough."
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    have=$(rustc --version | cut -d' ' -f2)
    printf '%s\n' "$wanted" "${have%%-*}" | sort --version-sort --check=quiet ||
        lacking "Rust $wanted or later (this is $have): rustup update stable"
    cargo fmt --version || lacking "rustfmt: rustup component add rustfmt"
    cargo clippy --version || lacking "clippy: rustup component add clippy"
    rustc --version
}

step_host() {
    local missing
    missing=$(missing_packages)
    if [[ -n $missing ]] && ((EUID == 0)) && have_command apt-get; then
        # shellcheck disable=SC2086 # a list of words
        install_packages $missing
        missing=$(missing_packages)
    fi
    [[ -z $missing ]] || lacking "these packages (Debian's names): $missing"
    keepalived --version 2>&1 | sed -n 1p
    vrrpd --version | sed -n 1p
    uname -sr
}

step_format() {
    cargo fmt --all --check
    cargo fmt --manifest-path "$no_std_check" --check
}

step_lints() {
    cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
    cargo clippy --locked --release --manifest-path "$no_std_check" --target-dir "$target/no-std" \
        -- -D warnings
}

step_features() {
    local crate feature
    for crate in "${published_crates[@]}"; do
        cargo clippy --locked -p "$crate" --no-default-features -- -D warnings
        for feature in $(features_of "$crate"); do
            cargo clippy --locked -p "$crate" --no-default-features --features "$feature" \
                -- -D warnings
        done
    done
}

step_no-std() {
    local build=(cargo build --locked --release --manifest-path "$no_std_check"
        --target-dir "$target/no-std")
    "${build[@]}"
    "$target/no-std/release/no-std-check"

    # The same program over a core that uses the standard library has two panic handlers.
    if "${build[@]}" --features std 2>"$work/std.log"; then
        echo "The check is void: it also builds with the standard library." >&2
        return 1
    fi
    if ! grep --quiet E0152 "$work/std.log"; then
        cat "$work/std.log" >&2
        return 1
    fi
}

step_docs() {
    # Twice: a public page that links to a private item is broken for a reader of the published
    # documentation, and goes unnoticed when private items are documented too.
    export RUSTDOCFLAGS="-D warnings"
    cargo doc --locked --workspace --no-deps --all-features
    cargo doc --locked --workspace --no-deps --all-features --document-private-items
}

step_shell() {
    local scripts=()
    local file
    while IFS= read -r -d '' file; do
        [[ -f $file ]] || continue # deleted, not yet committed
        if [[ $file == *.sh ]] || head -c 64 "$file" | grep --quiet --text -E '^#!.*\b(ba|da)?sh\b'; then
            scripts+=("$file")
        fi
    done < <(git ls-files -z --cached --others --exclude-standard)
    printf '%s\n' "${scripts[@]}"
    shellcheck "${scripts[@]}"
}

step_unit-tests() {
    local elsewhere=(--exclude vrrp-core --exclude lab --exclude promises)
    cargo test --locked --workspace "${elsewhere[@]}" --lib --bins --no-fail-fast
    cargo test --locked -p vrrp-core --no-fail-fast
}

step_tests() {
    local others=("${lab_crates[@]/#-p/--exclude}")
    run_tests 1200 "$(nproc)" --workspace "${others[@]}" --all-features
}

step_lab-tests() {
    run_tests 1800 2 "${lab_crates[@]}" --all-features
}

step_demonstration() {
    cargo build --locked --release --bin failover
    demonstrate alone
    demonstrate keepalived --peer keepalived
    demonstrate frr --peer frr
}

# --- helpers of the steps ------------------------------------------------------------------------

# demonstrate NAME ARGUMENT...: runs it in a folder of its own and looks at what it leaves there.
demonstrate() {
    local folder=$target/ci/failover-$1 started=$SECONDS
    local svg=$folder/failover.svg pcap=$folder/failover.pcap
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    echo "-- failover $*"
    if ! (cd "$folder" && timeout --kill-after=10 60 "$target/release/failover" "$@"); then
        echo "It failed, or took more than 60 s ($((SECONDS - started)) s)." >&2
        return 1
    fi

    if ! grep --quiet '<svg' "$svg" || ! tail -c 100 "$svg" | grep --quiet '</svg>'; then
        echo "$svg is no complete SVG." >&2
        return 1
    fi
    # In protocol 112 of either family: advertisements.
    if [[ -z $(tcpdump -nr "$pcap" -c 1 'ip proto 112 or ip6 proto 112' 2>"$work/tcpdump.log") ]]; then
        cat "$work/tcpdump.log" >&2
        echo "$pcap has no advertisement." >&2
        return 1
    fi
    echo "-- $((SECONDS - started)) s; left $svg and $pcap"
}

# run_tests SECONDS THREADS ARGUMENT...: cargo test with a time limit on the running, not the
# building, and with its output kept. What a test skips, it says there.
run_tests() {
    local limit=$1 threads=$2 log=$work/test-run.log status=0 ignored
    shift 2
    cargo test --locked "$@" --no-run
    timeout --kill-after=30 "$limit" \
        cargo test --locked --no-fail-fast "$@" -- --test-threads="$threads" 2>&1 |
        tee "$log" || status=$?
    cat "$log" >>"$tests_log"
    ignored=$(sum_of_results 8 "$log")
    if ((ignored > 0)); then
        echo "$ignored tests are ignored: here nothing may be skipped." >&2
        return 1
    fi
    return "$status"
}

# sum_of_results FIELD FILE: adds up libtest's closing lines. 4: passed, 6: failed, 8: ignored.
sum_of_results() {
    awk -v field="$1" '/^test result: / { sum += $field } END { print sum + 0 }' "$2"
}

# The names under [features] in a crate's manifest, but for `default`.
features_of() {
    sed -n '/^\[features\]/,/^\[[^f]/s/^\([a-z0-9_-]*\) *=.*/\1/p' "$1/Cargo.toml" |
        grep --invert-match --line-regexp default || true
}

missing_packages() {
    local need words=() missing=()
    for need in "${host_needs[@]}"; do
        read -r -a words <<<"$need"
        have_command "${words[0]}" || missing+=("${words[@]:1}")
    done
    echo "${missing[*]}"
}

# Installs packages without letting them start a daemon, now or at the next boot.
install_packages() {
    local policy=/usr/sbin/policy-rc.d
    echo "installing: $*"
    if [[ ! -e $policy ]]; then
        # shellcheck disable=SC2064 # the value of now
        trap "rm -f $policy" EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update --quiet=2
    apt-get install --quiet=2 --yes --no-install-recommends "$@"

    local package
    for package in "$@"; do
        case $package in
            keepalived | frr)
                if have_command systemctl; then
                    systemctl disable --quiet "$package" ||
                        echo "$package may start at the next boot: see systemctl disable" >&2
                fi
                ;;
        esac
    done
}

have_command() {
    command -v "$1" >/dev/null
}

# Ends the run: no later step could say anything useful.
lacking() {
    echo "This machine lacks $*" >&2
    exit 2
}

# --- running them --------------------------------------------------------------------------------

list_steps() {
    local step number=0
    for step in "$@"; do
        number=$((number + 1))
        printf '%3d  %-14s %s\n' "$number" "$step" "${shows[$step]}"
    done
}

usage() {
    sed -n '3,/^$/s/^#\( \|$\)//p' "$0"
}

mode=full
case "${1-}" in
    "") ;;
    --fast) mode=fast ;;
    --list)
        echo "./ci.sh --fast" && list_steps "${fast_steps[@]}"
        echo "./ci.sh" && list_steps "${full_steps[@]}"
        exit
        ;;
    --help | -h) usage && exit ;;
    *) usage >&2 && exit 2 ;;
esac
(($# <= 1)) || { usage >&2 && exit 2; }

# Debian keeps administrators' tools out of other users' paths, and FRR's daemons out of all.
PATH=$PATH:/usr/sbin:/sbin:/usr/lib/frr
target=$(realpath --canonicalize-missing "${CI_TARGET_DIR:-target}")
export PATH CARGO_TARGET_DIR=$target
no_std_check=vrrp-core/tests/no_std_check/Cargo.toml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests_log=$work/tests.log
touch "$tests_log"

if [[ $mode == fast ]]; then
    steps=("${fast_steps[@]}")
    unset CI # here a test may skip what this machine does not allow
else
    steps=("${full_steps[@]}")
    # Tests read it: a missing privilege or peer is then a failure. Without root they run in user
    # namespaces, where real-time scheduling is refused by nature, so there they may skip.
    if ((EUID == 0)); then
        export CI=true
    fi
fi

echo "Steps:"
list_steps "${steps[@]}"

summary=()
failed=0
for step in "${steps[@]}"; do
    printf '\n=== %s: %s\n' "$step" "${shows[$step]}"
    started=$SECONDS
    # A subshell of its own, outside any condition, or `set -e` would not hold inside the step.
    set +e
    (
        set -e
        "step_$step"
    )
    status=$?
    set -e
    took=$((SECONDS - started))
    if ((status == 0)); then
        summary+=("$(printf 'ok      %5d s  %s' "$took" "$step")")
    else
        summary+=("$(printf 'FAILED  %5d s  %s' "$took" "$step")")
        failed=$((failed + 1))
        echo "=== $step FAILED (exit code $status)" >&2
    fi
    ((status != 2)) || [[ $step != toolchain && $step != host ]] || exit 2
done

printf '\n=== summary: %d steps, %d failed, %d s\n' "${#steps[@]}" "$failed" "$SECONDS"
printf '%s\n' "${summary[@]}"
if [[ $mode == fast ]]; then
    echo "Not checked here: the wire. ./ci.sh builds networks and runs real peers."
else
    skipped=$(grep --count 'skipped: ' "$tests_log" || true)
    # libtest counts a test that returned early as passed.
    passed=$(($(sum_of_results 4 "$tests_log") - skipped))
    if ((passed <= 0)); then
        echo "No test ran." >&2
        failed=$((failed + 1))
    fi
    if ((skipped > 0)); then
        echo "Skipped tests say why above; search for 'skipped: '."
        [[ ${CI-} != true ]] || failed=$((failed + 1))
    fi
    echo "tests: $passed passed, $(sum_of_results 6 "$tests_log") failed, $skipped skipped"
fi
((failed == 0))
