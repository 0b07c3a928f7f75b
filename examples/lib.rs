//! Short programs, one idea each; see README.md in this folder.

/// Compiles the code in the project's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
