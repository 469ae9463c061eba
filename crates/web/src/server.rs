//! The workbench on this machine: one page and one address for questions, for whoever has the token.
//!
//! The server listens on 127.0.0.1 alone. A request needs the token of its address, the host name of this machine (so
//! that no other name that leads here is served), and no foreign origin. A question that is given up, because its
//! request is closed, its time is over or memory is short, ends with the step it is in. Connections are few at once,
//! and none is waited for without end.

use std::future::ready;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequest, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use pfaff::Files;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::{Workbench, page};

/// The longest question, in bytes: a model text may have 64 MiB, but nobody types that.
const LONGEST: usize = 16 << 20;
/// How long a question may take.
const PATIENCE: Duration = Duration::from_mins(2);
/// How long the head of a request, and its body, may take to arrive; and how long a connection may be silent.
const SILENCE: Duration = Duration::from_secs(30);
/// Connections at once; others wait until one of them is closed.
const CONNECTIONS: usize = 64;
/// The time after which a connection is accepted again where that failed.
const PAUSE: Duration = Duration::from_millis(100);

/// What a server needs.
pub struct Server {
    /// Where to listen; 0 for any free port.
    pub port: u16,
    /// The files that models may read.
    pub files: Arc<dyn Files + Send + Sync>,
    /// The text that the page begins with, and its name; none for a model of the gallery.
    pub model: Option<(String, String)>,
    /// Whether there is memory left. A question that takes too much is given up.
    pub has_memory: fn() -> bool,
}

struct Home {
    token: String,
    hosts: [String; 2],
    files: Arc<dyn Files + Send + Sync>,
    page: String,
    lessons: String,
    has_memory: fn() -> bool,
}

impl Server {
    /// Serves until the program ends. `ready` hears the address once the server listens.
    ///
    /// # Errors
    ///
    /// If the port is taken, or this machine gives no random numbers.
    pub fn run(self, ready: impl FnOnce(&str)) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(CONNECTIONS)
            .build()?;
        runtime.block_on(async move {
            let place = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
            let listener = TcpListener::bind(place).await?;
            let port = listener.local_addr()?.port();
            let token = token()?;
            let home = Home {
                page: whole_page(page::HTML, page::SCRIPT, &token, self.model.as_ref()),
                lessons: whole_page(page::LESSONS, page::LESSONS_SCRIPT, &token, None),
                hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
                files: self.files,
                has_memory: self.has_memory,
                token,
            };
            ready(&format!("http://127.0.0.1:{port}/?token={}", home.token));
            serve(listener, &routes(home)).await
        })
    }
}

/// Serves one connection after the other, [`CONNECTIONS`] of them at once.
async fn serve(listener: TcpListener, routes: &Router) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let place = Arc::clone(&room).acquire_owned().await.map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            // NOTE: it was given up meanwhile, or no file can be opened until others are closed.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(SILENCE)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes.clone()));
        tokio::spawn(async move {
            // NOTE: whatever is wrong with a connection is told to the other side, if it still listens.
            let _ = connection.await;
            drop(place);
        });
    }
}

fn routes(home: Home) -> Router {
    Router::new()
        .route("/", get(show))
        .route("/lessons.html", get(show_lessons))
        .route("/ask", post(ask))
        .fallback(|| ready(refusal(StatusCode::NOT_FOUND, "there is nothing at this address")))
        .layer(DefaultBodyLimit::max(LONGEST))
        .with_state(Arc::new(home))
}

/// 128 random bits.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// The page with everything inside, and the token by which it asks.
fn whole_page(
    html: &str,
    script: &str,
    token: &str,
    model: Option<&(String, String)>,
) -> String {
    let head = format!("<meta name=\"pfaff-token\" content=\"{token}\">");
    let model = model.map_or(String::new(), |(name, text)| {
        // NOTE: inside a script element only `</script` and `<!--` could end the data: no `<` is left.
        let data = json!({"name": name, "text": text}).to_string().replace('<', "\\u003c");
        format!("<script id=\"pfaff-model\" type=\"application/json\">{data}</script>\n")
    });
    let script = script.replace("</script", "<\\/script");
    let between =
        |text: &str, from: &str, to: &str, by: &str| match (text.find(from), text.find(to)) {
            (Some(a), Some(b)) if a < b => {
                format!("{}{by}{}", &text[..a], &text[b + to.len()..])
            }
            _ => text.to_owned(),
        };
    let html = html.replace("<!-- policy -->", &head);
    let style = format!("<style>{}</style>", page::STYLE);
    let html = between(&html, "<!-- style -->", "<!-- end of style -->", &style);
    let script = format!("{model}<script>{script}</script>");
    between(&html, "<!-- script -->", "<!-- end of script -->", &script)
}

/// What a page may do: run its own script, ask this server, and stand in a lesson; nothing else.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; \
    img-src data: blob:; connect-src 'self'; worker-src blob:; frame-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'";

type Words = Query<Vec<(String, String)>>;

async fn show(
    State(home): State<Arc<Home>>,
    words: Words,
    headers: HeaderMap,
) -> Response<Body> {
    shown(&home, &words, &headers, &home.page)
}

async fn show_lessons(
    State(home): State<Arc<Home>>,
    words: Words,
    headers: HeaderMap,
) -> Response<Body> {
    shown(&home, &words, &headers, &home.lessons)
}

fn shown(home: &Home, words: &Words, headers: &HeaderMap, page: &str) -> Response<Body> {
    let given = words.iter().find(|(key, _)| key == "token").map(|(_, value)| value.as_str());
    match refused(home, headers, given) {
        Some(refusal) => refusal,
        None => answer(StatusCode::OK, "text/html; charset=utf-8", page.to_owned()),
    }
}

async fn ask(State(home): State<Arc<Home>>, request: Request) -> Response<Body> {
    let headers = request.headers();
    let given = headers.get("x-pfaff-token").and_then(|value| value.to_str().ok());
    if let Some(refusal) = refused(&home, headers, given) {
        return refusal;
    }
    let question = match timeout(SILENCE, Bytes::from_request(request, &())).await {
        Ok(Ok(question)) => question,
        Ok(Err(rejection)) => {
            return refusal(rejection.status(), "the question cannot be read");
        }
        Err(_) => return refusal(StatusCode::REQUEST_TIMEOUT, "the question takes too long"),
    };
    let Ok(question) = String::from_utf8(question.into()) else {
        return refusal(StatusCode::BAD_REQUEST, "a question is text");
    };
    let waiting = Arc::new(AtomicBool::new(true));
    // Dropped with this request, also when it is closed from the other side.
    let given_up = GivenUp(Arc::clone(&waiting));
    let work = move || {
        let (begun, has_memory) = (Instant::now(), home.has_memory);
        let go_on = move || {
            waiting.load(Ordering::Relaxed) && begun.elapsed() < PATIENCE && has_memory()
        };
        Workbench::default().with_files(&*home.files).ask_while(&question, go_on)
    };
    let done = tokio::task::spawn_blocking(work).await;
    drop(given_up);
    match done {
        Ok(text) => answer(StatusCode::OK, "application/json", text),
        Err(_) => {
            refusal(StatusCode::INTERNAL_SERVER_ERROR, "the question could not be answered")
        }
    }
}

struct GivenUp(Arc<AtomicBool>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Why a request is not served.
fn refused(home: &Home, headers: &HeaderMap, token: Option<&str>) -> Option<Response<Body>> {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or(""));
    let host = text(header::HOST).unwrap_or("");
    if !home.hosts.iter().any(|own| own == host) {
        return Some(refusal(StatusCode::FORBIDDEN, "this server has another name"));
    }
    let foreign = |origin: &str| {
        let host = origin.strip_prefix("http://");
        !home.hosts.iter().any(|own| host == Some(own.as_str()))
    };
    if text(header::ORIGIN).is_some_and(foreign) {
        return Some(refusal(StatusCode::FORBIDDEN, "requests of other pages are not served"));
    }
    if !token.is_some_and(|token| equal(token.as_bytes(), home.token.as_bytes())) {
        return Some(refusal(
            StatusCode::FORBIDDEN,
            "the token is missing or wrong: open the address that `pfaff studio` printed",
        ));
    }
    None
}

/// Compares in a time that does not tell where two texts differ.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}

fn refusal(status: StatusCode, why: &str) -> Response<Body> {
    let body = json!({"error": {"message": why, "diagnostics": []}}).to_string();
    answer(status, "application/json", body)
}

fn answer(status: StatusCode, media: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, media),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
