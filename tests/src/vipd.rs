//! `vipd` itself, built beside the tests that run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    vipd::main_from(std::env::args_os())
}
