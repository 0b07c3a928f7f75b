//! The daemon. All of it is in the library, so that another program can take its role.

use std::process::ExitCode;

fn main() -> ExitCode {
    vipd::main_from(std::env::args_os())
}
