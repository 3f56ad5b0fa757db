"""What was there before the call and must stay as it is: it is compared, put back and refused, never followed."""
