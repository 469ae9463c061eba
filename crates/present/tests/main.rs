//! Tests of what is shown and written, through the public face of the crate.

mod equations;
mod parquet;
