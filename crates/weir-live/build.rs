//! Compiles the programs of `bpf/` for the kernel, one object each, which the crate carries inside.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs: folders of `bpf/`, and files in them.
const PROGRAMS: [(&str, &str); 5] = [
    ("route", "route"),
    ("steer", "steer"),
    ("steer", "bare"),
    ("dispatcher", "dispatcher2"),
    ("dispatcher", "dispatcher3"),
];

fn main() {
    let sources = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../../bpf");
    let compiler = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    println!("cargo::rerun-if-env-changed=CLANG");
    let headers = headers(&compiler);
    for (folder, program) in PROGRAMS {
        let folder = sources.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let object = PathBuf::from(variable("OUT_DIR")).join(format!("{program}.bpf.o"));
        compile(&compiler, &headers, &folder, &folder.join(format!("{program}.bpf.c")), &object);
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: this runs under cargo, which sets it"))
}

/// Where headers are: those of libbpf, which its own build put aside, and those that the compiler takes for the host,
/// which it leaves out when it compiles for the kernel.
fn headers(compiler: &str) -> Vec<String> {
    let asked = Command::new(compiler).args(["-v", "-E", "-x", "c", "/dev/null"]).output().unwrap_or_else(|error| {
        panic!("{compiler}: {error}; programs for the kernel need it: apt install clang libelf-dev zlib1g-dev")
    });
    let said = String::from_utf8_lossy(&asked.stderr);
    let host = said.lines().skip_while(|line| !line.starts_with("#include <...>")).skip(1);
    let host = host.take_while(|line| line.starts_with(' ')).map(|line| format!("-idirafter{}", line.trim()));
    [format!("-I{}", variable("DEP_BPF_INCLUDE"))].into_iter().chain(host).collect()
}

fn compile(compiler: &str, headers: &[String], folder: &Path, source: &Path, object: &Path) {
    let done = Command::new(compiler)
        // Version 3 has atomic operations that return a value, and 32-bit jumps.
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", "-fno-stack-protector", "-c"])
        // No path of this machine in what is carried inside.
        .args([
            format!("-ffile-prefix-map={}=bpf", folder.display()),
            format!("-ffile-prefix-map={}=libbpf", variable("DEP_BPF_INCLUDE")),
            "-fdebug-compilation-dir=.".into(),
        ])
        .args(headers)
        .arg(source)
        .arg("-o")
        .arg(object)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(done.status.success(), "{}:\n{}", source.display(), String::from_utf8_lossy(&done.stderr));
}
