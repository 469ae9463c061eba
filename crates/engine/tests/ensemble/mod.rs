//! Many motions of one model: what is made ready once gives the motions of single runs.

mod prepared;
