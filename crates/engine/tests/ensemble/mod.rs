//! Many motions of one model: what is made ready once, in lanes, and with noise, against single runs and closed forms.

mod lanes;
mod noise;
mod prepared;
