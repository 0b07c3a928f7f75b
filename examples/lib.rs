//! Short programs, one idea each; see README.md in this folder.
