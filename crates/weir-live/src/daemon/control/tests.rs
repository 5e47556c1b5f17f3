//! The socket from outside, and what becomes of each request.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use weir_document::Source;

use super::super::directory::socket_of;
use super::super::inbox::{Inbox, inbox};
use super::super::peers::{MOST_CONNECTIONS, MOST_OF_A_USER};
use super::super::requests::{Began, InForce, Order};
use super::*;
use crate::steer::config::{Processors, Steering};
use crate::steer::requests::Order as SteeringOrder;

const TEXT: &str =
    "weir = 1\n[router]\nname = \"r\"\n[[interface]]\nname = \"a\"\n[[interface]]\nname = \"b\"\n";

fn router() -> Began {
    let router = weir_plane::config::read(&Source { name: "r.toml", text: TEXT }).expect("valid");
    Began { in_force: InForce::new(Arc::new(router.clone())), router, seed: 1 }
}

fn json(request: &Request) -> Vec<u8> {
    serde_json::to_vec(request).expect("written")
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn serve(base: &Path) -> (Control, Inbox<Order>) {
    let directory = RunDirectory::claim(base, "r").expect("free");
    let socket = Socket::bind(directory, None).expect("bound");
    let (caller, inbox) = inbox().expect("a descriptor");
    (socket.serve(Readings::new(caller), router()).expect("served"), inbox)
}

/// Sends lines, and returns what is answered until the daemon closes.
fn converse(socket: PathBuf, lines: &[&[u8]]) -> Vec<String> {
    let mut stream = UnixStream::connect(socket).expect("connected");
    for line in lines {
        stream.write_all(line).expect("written");
    }
    stream.shutdown(std::net::Shutdown::Write).expect("open");
    // A daemon that closes with input unread resets the connection behind its answer.
    BufReader::new(stream).lines().map_while(Result::ok).collect()
}

/// Answers what comes until it has answered `count` orders.
fn answering(inbox: Inbox<Order>, count: usize) -> JoinHandle<Vec<Order>> {
    std::thread::spawn(move || {
        let mut orders = Vec::new();
        while orders.len() < count {
            poll(&mut [PollFd::new(&inbox, PollFlags::IN)], None).expect("polled");
            while let Some(command) = inbox.try_next() {
                command.reply.send(Answer::Done { said: format!("done {}", orders.len()) });
                orders.push(command.order);
            }
        }
        orders
    })
}

#[test]
fn the_socket_is_made_closed_answers_and_goes() {
    let base = tempfile::tempdir().expect("a directory");
    let (control, inbox) = serve(base.path());
    let socket = socket_of(base.path(), "r");
    assert_eq!((mode(&socket), mode(&base.path().join("r"))), (0o660, 0o750));
    let loop_thread = answering(inbox, 2);
    let answers =
        converse(socket.clone(), &[b"{\"request\":\"status\"}\n", b"{\"request\":\"dr", b"ain\"}\n"]);
    assert_eq!(
        answers,
        ["done 0", "done 1"].map(|said| format!("{{\"answer\":\"done\",\"said\":\"{said}\"}}"))
    );
    let orders = loop_thread.join().expect("answered");
    assert_eq!(orders, [Order::Status, Order::Drain { interface: None, resume: false }]);
    assert!(UnixStream::connect(&socket).is_ok());
    drop(control);
    assert!(UnixStream::connect(&socket).is_err());
    assert_eq!(std::fs::read_dir(base.path()).expect("read").count(), 0);
}

#[test]
fn garbage_is_answered_and_kills_nothing() {
    let base = tempfile::tempdir().expect("a directory");
    let (_control, _inbox) = serve(base.path());
    let socket = socket_of(base.path(), "r");
    let long = vec![b'['; LONGEST_REQUEST + 10];
    for garbage in [b"\n".as_slice(), b"\xff\xfe\x00\n", b"{}\n", b"null\n", b"[\n", &long] {
        // What is long may be refused before all of it has been written.
        let mut stream = UnixStream::connect(&socket).expect("connected");
        let _ = stream.write_all(garbage);
        let mut answer = String::new();
        let _ = BufReader::new(stream).read_line(&mut answer);
        assert!(answer.contains("\"answer\":\"refused\"") || garbage.len() > 1000, "{answer}");
    }
    drop(UnixStream::connect(&socket).expect("connected"));
    let answers = converse(
        socket,
        &[b"{\"request\":\"set\",\"interface\":\"a\",\"rate\":\"c\"}\n", b"{\"request\":\"s\"}\n"],
    );
    assert!(answers[0].contains("rate is \\\"c\\\", not a rate with its unit"), "{answers:?}");
    assert!(answers[1].contains("the request cannot be read: unknown variant `s`"), "{answers:?}");
}

#[test]
fn connections_are_bounded_and_come_free_again() {
    let base = tempfile::tempdir().expect("a directory");
    let (_control, inbox) = serve(base.path());
    let socket = socket_of(base.path(), "r");
    let most = if geteuid().is_root() { MOST_CONNECTIONS } else { MOST_OF_A_USER };
    let held: Vec<UnixStream> = (0..most).map(|_| UnixStream::connect(&socket).expect("connected")).collect();
    let mut refused = String::new();
    BufReader::new(UnixStream::connect(&socket).expect("queued")).read_line(&mut refused).expect("read");
    let expected =
        if geteuid().is_root() { "64 connections are open already" } else { "16 connections already" };
    assert!(refused.contains(expected), "{refused}");
    drop(held);
    let loop_thread = answering(inbox, 1);
    loop {
        let mut stream = UnixStream::connect(&socket).expect("connected");
        let _ = stream.write_all(b"{\"request\":\"stop\"}\n");
        let mut answer = String::new();
        let _ = BufReader::new(stream).read_line(&mut answer);
        if answer.contains("done 0") {
            break;
        }
        std::thread::yield_now();
    }
    assert_eq!(loop_thread.join().expect("answered"), [Order::Stop]);
}

#[test]
fn a_restart_after_a_kill_works() {
    let base = tempfile::tempdir().expect("a directory");
    let (control, _inbox) = serve(base.path());
    // As if it had been killed: the lock goes, all else stays.
    let left = base.path().join("left");
    std::fs::rename(base.path().join("r"), &left).expect("moved");
    drop(control);
    std::fs::rename(&left, base.path().join("r")).expect("moved back");
    assert!(socket_of(base.path(), "r").exists());
    let (_control, inbox) = serve(base.path());
    let loop_thread = answering(inbox, 1);
    assert_eq!(converse(socket_of(base.path(), "r"), &[b"{\"request\":\"stats\"}\n"]).len(), 1);
    assert_eq!(loop_thread.join().expect("answered"), [Order::Stats]);
}

#[test]
fn who_may_only_read_changes_nothing() {
    let first = router();
    for request in [Request::Status, Request::Stats, Request::Configuration] {
        assert!(matches!(consider(&json(&request), false, &first), Outcome::Read(..)));
    }
    let set = Request::Set {
        interface: "a".to_owned(),
        rate: Some("1Mbit".to_owned()),
        discipline: None,
        propagation: None,
    };
    let reload = Request::Reload { file: "r.toml".to_owned(), text: TEXT.to_owned() };
    for request in [set, reload, Request::Drain { interface: None, resume: true }, Request::Stop] {
        let refused = consider(&json(&request), false, &first);
        assert!(matches!(refused, Outcome::Refuse(Answer::Refused { permission: true, .. })));
        assert!(matches!(consider(&json(&request), true, &first), Outcome::Order(_)));
    }
}

#[test]
fn a_configuration_is_checked_before_the_loop_sees_it() {
    let first = router();
    let reload = |text: &str| {
        let request = Request::Reload { file: "new.toml".to_owned(), text: text.to_owned() };
        match consider(&json(&request), true, &first) {
            Outcome::Refuse(Answer::Refused { error, permission: false }) => error,
            Outcome::Order(Order::Reload { file, router, .. }) => {
                format!("{file} {}", router.interfaces[1].name)
            }
            other => format!("{other:?}"),
        }
    };
    assert_eq!(reload(TEXT), "new.toml b");
    assert!(reload("weir = 3").starts_with("new.toml:1:1: "));
    assert!(reload(&TEXT.replace("\"r\"", "\"s\"")).contains("cannot change while the daemon runs"));
    assert!(
        reload(&format!("{TEXT}rate = \"0bit\"")).starts_with("new.toml:8:8: interface.rate is \"0bit\", ")
    );
}

fn steering() -> Steering {
    let text =
        "weir = 1\n[steer]\nname = \"kv\"\ninterface = \"eth0\"\nports = [9000]\nprocessors = \"1-3\"\n";
    crate::steer::config::read(&Source { name: "s.toml", text }).expect("valid")
}

#[test]
fn each_kind_of_daemon_takes_its_own_requests() {
    let (kv, r) = (steering(), router());
    let policy = Request::Policy { spec: "jsq".to_owned() };
    let cores = |text: &str| Request::Cores { processors: text.to_owned() };
    let order = consider(&json(&policy), true, &kv);
    assert_eq!(order, Outcome::Order(SteeringOrder::Policy("jsq".to_owned())));
    let order = consider(&json(&cores("1,3")), true, &kv);
    assert_eq!(order, Outcome::Order(SteeringOrder::Processors(Processors(vec![1, 3]))));
    let refused = |outcome: Outcome<SteeringOrder>| match outcome {
        Outcome::Refuse(Answer::Refused { error, permission }) => (error, permission),
        other => panic!("{other:?}"),
    };
    let (error, _) = refused(consider(&json(&cores("3-1")), true, &kv));
    let expected = "processors is \"3-1\", has the range `3-1`, which ends before it begins: write a list such as \
                    \"1-3\" or \"1,2,5\"";
    assert_eq!(error, expected);
    assert!(
        refused(consider(&json(&policy), false, &kv)).1
            && refused(consider(&json(&cores("1")), false, &kv)).1
    );
    let (error, _) = refused(consider(&json(&Request::Drain { interface: None, resume: false }), true, &kv));
    assert!(error.starts_with("`kv` steers and has no interfaces to change: "), "{error}");
    let Outcome::Refuse(Answer::Refused { error, .. }) = consider(&json(&policy), true, &r) else { panic!() };
    assert!(error.starts_with("`r` is a router: "), "{error}");
}

#[test]
fn groups_are_found_by_name() {
    assert_eq!(number_of_group("root").expect("there"), 0);
    let error = number_of_group("no-such-group").expect_err("absent").to_string();
    assert!(error.starts_with("group is \"no-such-group\", not a group of this system: "), "{error}");
}
