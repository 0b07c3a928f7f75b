//! Promise: every dependency comes from the public registry under a permissive licence, and the
//! core depends on next to nothing. The lists are those of `deny.toml`.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::env::consts::ARCH;
use std::fs;
use std::path::PathBuf;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use serde::Deserialize;
use spdx::{Expression, Licensee};

#[test]
fn every_licence_is_permissive() {
    let allowed: Vec<Licensee> =
        policy().licenses.allow.iter().map(|licence| Licensee::parse(licence).unwrap()).collect();
    let refused: Vec<String> = metadata()
        .packages
        .iter()
        .filter(|package| {
            let Some(licence) = &package.license else {
                return true;
            };
            // Some old crates write "MIT/Apache-2.0".
            let licence = Expression::parse_mode(licence, spdx::ParseMode::LAX).unwrap();
            !licence
                .evaluate(|required| allowed.iter().any(|licensee| licensee.satisfies(required)))
        })
        .map(|package| format!("{} {}: {:?}", package.name, package.version, package.license))
        .collect();
    assert!(refused.is_empty(), "not allowed by deny.toml: {refused:#?}");
}

#[test]
fn every_dependency_comes_from_the_public_registry() {
    let metadata = metadata();
    let elsewhere: Vec<String> = metadata
        .packages
        .iter()
        .filter(|package| match &package.source {
            Some(source) => !source.is_crates_io(),
            None => !package.manifest_path.starts_with(&metadata.workspace_root),
        })
        .map(|package| package.id.to_string())
        .collect();
    assert!(elsewhere.is_empty(), "from elsewhere: {elsewhere:#?}");
}

#[test]
fn no_banned_crate_is_used() {
    let banned: BTreeSet<String> = policy().bans.deny.into_iter().map(|ban| ban.name).collect();
    let used: Vec<String> = metadata()
        .packages
        .iter()
        .map(|package| package.name.to_string())
        .filter(|name| banned.contains(name))
        .collect();
    assert!(used.is_empty(), "banned by deny.toml: {used:?}");
}

#[test]
fn the_core_depends_on_its_error_derive_alone() {
    let metadata = metadata();
    let core =
        metadata.packages.iter().find(|package| package.name.as_str() == "vrrp-core").unwrap();
    let (optional, always): (Vec<_>, Vec<_>) = core
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .partition(|dependency| dependency.optional);
    let always: Vec<&str> = always.iter().map(|dependency| dependency.name.as_str()).collect();
    assert_eq!(always, ["thiserror"]);

    // What is optional belongs to the private feature for fuzzing, which nothing public enables.
    for dependency in optional {
        let switch = format!("dep:{}", dependency.name);
        let enabled_by: Vec<&str> = core
            .features
            .iter()
            .filter(|(_, enables)| enables.contains(&switch))
            .map(|(feature, _)| feature.as_str())
            .collect();
        assert_eq!(enabled_by, ["__fuzzing"], "{}", dependency.name);
    }
    let enables_fuzzing = core.features.values().flatten().any(|name| name == "__fuzzing");
    assert!(!enables_fuzzing, "a public feature enables the private one");
}

/// The packages that are built on this kind of host, with every feature and for every purpose.
fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .features(cargo_metadata::CargoOpt::AllFeatures)
        .other_options(vec![
            "--locked".into(),
            "--filter-platform".into(),
            format!("{ARCH}-unknown-linux-gnu"),
        ])
        .exec()
        .expect("cargo metadata describes the workspace")
}

fn policy() -> Policy {
    let text = fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    toml::from_str(&text).expect("deny.toml has the lists that are read here")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The parts of `deny.toml` that are checked here.
#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
}
